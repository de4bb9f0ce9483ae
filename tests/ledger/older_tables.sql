-- 0001
CREATE TABLE benchmark_items (benchmark TEXT NOT NULL, position INTEGER NOT NULL, item TEXT NOT NULL, label TEXT NOT NULL, PRIMARY KEY (benchmark, position));
CREATE TABLE benchmarks (digest TEXT NOT NULL, name TEXT NOT NULL, licence TEXT NOT NULL, citation TEXT NOT NULL, sample BOOLEAN NOT NULL, at FLOAT NOT NULL, PRIMARY KEY (digest));
CREATE TABLE calls ("key" TEXT NOT NULL, request TEXT NOT NULL, text TEXT NOT NULL, finish TEXT NOT NULL, reasoning TEXT NOT NULL, input_tokens INTEGER, output_tokens INTEGER, cached_tokens INTEGER, reasoning_tokens INTEGER, model TEXT NOT NULL, fingerprint TEXT NOT NULL, offered TEXT, forced BOOLEAN NOT NULL, adapted TEXT NOT NULL, requests INTEGER NOT NULL, seconds FLOAT NOT NULL, cost_usd FLOAT, run TEXT NOT NULL, at FLOAT NOT NULL, PRIMARY KEY ("key"));
CREATE TABLE claims (what TEXT NOT NULL, holder TEXT NOT NULL, until FLOAT NOT NULL, PRIMARY KEY (what));
CREATE TABLE conditions ("key" TEXT NOT NULL, protocol TEXT NOT NULL, prompt_hash TEXT NOT NULL, readout TEXT NOT NULL, see TEXT NOT NULL, fenced BOOLEAN NOT NULL, image_detail TEXT, max_image_edge INTEGER, extractor TEXT, PRIMARY KEY ("key"));
CREATE TABLE items (digest TEXT NOT NULL, content TEXT NOT NULL, PRIMARY KEY (digest));
CREATE TABLE judgements (seq INTEGER NOT NULL, trial TEXT NOT NULL, reader TEXT NOT NULL, verdict TEXT, reason TEXT, detail TEXT NOT NULL, calls TEXT NOT NULL, notes TEXT NOT NULL, cost_usd FLOAT, run TEXT NOT NULL, at FLOAT NOT NULL, PRIMARY KEY (seq));
CREATE INDEX ix_judgements_run ON judgements (run);
CREATE INDEX ix_judgements_trial_reader ON judgements (trial, reader);
CREATE TABLE meta (name TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (name));
CREATE TABLE raters ("key" TEXT NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL, endpoint TEXT NOT NULL, settings TEXT NOT NULL, PRIMARY KEY ("key"));
CREATE TABLE response_choices (seq INTEGER NOT NULL, item TEXT NOT NULL, model TEXT NOT NULL, variant TEXT NOT NULL, response TEXT NOT NULL, at FLOAT NOT NULL, PRIMARY KEY (seq));
CREATE INDEX ix_response_choices_item ON response_choices (item);
CREATE TABLE responses (digest TEXT NOT NULL, item TEXT NOT NULL, model TEXT NOT NULL, variant TEXT NOT NULL, text TEXT NOT NULL, made_from TEXT, alteration TEXT, flags TEXT NOT NULL, PRIMARY KEY (digest));
CREATE INDEX ix_responses_item ON responses (item);
CREATE TABLE run_ends (run TEXT NOT NULL, outcome TEXT NOT NULL, at FLOAT NOT NULL, PRIMARY KEY (run));
CREATE TABLE runs (id TEXT NOT NULL, command TEXT NOT NULL, study TEXT, settings TEXT NOT NULL, version TEXT NOT NULL, at FLOAT NOT NULL, PRIMARY KEY (id));
CREATE INDEX ix_runs_at ON runs (at);
CREATE TABLE studies ("key" TEXT NOT NULL, purpose TEXT NOT NULL, benchmark TEXT NOT NULL, data TEXT NOT NULL, rater TEXT NOT NULL, condition TEXT NOT NULL, content TEXT NOT NULL, wanted INTEGER NOT NULL, at FLOAT NOT NULL, PRIMARY KEY ("key"));
CREATE INDEX ix_studies_data ON studies (data);
CREATE TABLE study_trials (study TEXT NOT NULL, trial TEXT NOT NULL, PRIMARY KEY (study, trial));
CREATE TABLE trials ("key" TEXT NOT NULL, item TEXT NOT NULL, responses TEXT NOT NULL, rater TEXT NOT NULL, condition TEXT NOT NULL, replicate INTEGER NOT NULL, attempt INTEGER NOT NULL, PRIMARY KEY ("key"));
CREATE INDEX ix_trials_item ON trials (item);
-- 0002
CREATE TABLE access_keys (token_hash TEXT NOT NULL, id TEXT NOT NULL, kind TEXT NOT NULL, person TEXT NOT NULL, note TEXT NOT NULL, at FLOAT NOT NULL, expires FLOAT NOT NULL, PRIMARY KEY (token_hash), UNIQUE (id));
CREATE INDEX ix_access_keys_person ON access_keys (person);
CREATE TABLE audit_log (seq INTEGER NOT NULL, at FLOAT NOT NULL, what TEXT NOT NULL, person TEXT, address TEXT NOT NULL, detail TEXT NOT NULL, PRIMARY KEY (seq));
CREATE TABLE invitations (id TEXT NOT NULL, token_hash TEXT NOT NULL, role TEXT NOT NULL, note TEXT NOT NULL, person TEXT, uses_left INTEGER NOT NULL, made_by TEXT, at FLOAT NOT NULL, expires FLOAT NOT NULL, revoked FLOAT, PRIMARY KEY (id), UNIQUE (token_hash));
CREATE TABLE opened_benchmarks (benchmark TEXT NOT NULL, opened_by TEXT, at FLOAT NOT NULL, PRIMARY KEY (benchmark));
CREATE TABLE people (id TEXT NOT NULL, role TEXT NOT NULL, name TEXT NOT NULL, invitation TEXT, at FLOAT NOT NULL, erased FLOAT, PRIMARY KEY (id));
-- 0003
CREATE TABLE people_places (id TEXT NOT NULL, study TEXT NOT NULL, number INTEGER NOT NULL, person TEXT, record TEXT, run TEXT, at FLOAT, PRIMARY KEY (id), UNIQUE (study, number), UNIQUE (study, person));
CREATE INDEX ix_people_places_person ON people_places (person);
CREATE TABLE people_studies (id TEXT NOT NULL, title TEXT NOT NULL, benchmark TEXT NOT NULL, data TEXT NOT NULL, form TEXT NOT NULL, asked TEXT NOT NULL, comparisons INTEGER NOT NULL, made_by TEXT, at FLOAT NOT NULL, paused FLOAT, PRIMARY KEY (id));
CREATE TABLE people_tasks (place TEXT NOT NULL, number INTEGER NOT NULL, item TEXT NOT NULL, first TEXT NOT NULL, second TEXT NOT NULL, trial TEXT, PRIMARY KEY (place, number));
CREATE INDEX ix_people_tasks_trial ON people_tasks (trial);
-- 0004
CREATE TABLE growing (id TEXT NOT NULL, name TEXT NOT NULL, licence TEXT NOT NULL, base TEXT, "by" TEXT NOT NULL, at FLOAT NOT NULL, PRIMARY KEY (id), UNIQUE (name));
CREATE TABLE growing_settings (seq INTEGER NOT NULL, growing TEXT NOT NULL, content TEXT NOT NULL, "by" TEXT NOT NULL, at FLOAT NOT NULL, PRIMARY KEY (seq));
CREATE INDEX ix_growing_settings_growing ON growing_settings (growing);
CREATE TABLE proposal_events (seq INTEGER NOT NULL, growing TEXT NOT NULL, proposal TEXT NOT NULL, kind TEXT NOT NULL, person TEXT, content TEXT NOT NULL, once TEXT, at FLOAT NOT NULL, PRIMARY KEY (seq), UNIQUE (once));
CREATE INDEX ix_proposal_events_growing ON proposal_events (growing);
CREATE INDEX ix_proposal_events_proposal ON proposal_events (proposal);
CREATE TABLE growing_versions (growing TEXT NOT NULL, number INTEGER NOT NULL, data TEXT NOT NULL, "by" TEXT NOT NULL, at FLOAT NOT NULL, PRIMARY KEY (growing, number));
CREATE TABLE skips (person TEXT NOT NULL, what TEXT NOT NULL, at FLOAT NOT NULL, PRIMARY KEY (person, what));
CREATE TABLE leases (what TEXT NOT NULL, person TEXT NOT NULL, until FLOAT NOT NULL, PRIMARY KEY (what));
CREATE TABLE worker_notes (work TEXT NOT NULL, sentence TEXT NOT NULL, at FLOAT NOT NULL, PRIMARY KEY (work));
-- 0005
CREATE TABLE intakes (id TEXT NOT NULL, benchmark TEXT NOT NULL, data TEXT NOT NULL, rater TEXT NOT NULL, condition TEXT NOT NULL, variant TEXT NOT NULL, "by" TEXT NOT NULL, at FLOAT NOT NULL, PRIMARY KEY (id), UNIQUE (data, rater, condition, variant));
CREATE TABLE intake_terms (seq INTEGER NOT NULL, intake TEXT NOT NULL, content TEXT NOT NULL, "by" TEXT NOT NULL, at FLOAT NOT NULL, PRIMARY KEY (seq));
CREATE INDEX ix_intake_terms_intake ON intake_terms (intake);
CREATE TABLE submissions (id TEXT NOT NULL, intake TEXT NOT NULL, person TEXT NOT NULL, model TEXT NOT NULL, version TEXT NOT NULL, team TEXT NOT NULL, link TEXT NOT NULL, policy_hash TEXT NOT NULL, at FLOAT NOT NULL, PRIMARY KEY (id));
CREATE INDEX ix_submissions_intake ON submissions (intake);
CREATE INDEX ix_submissions_person ON submissions (person);
CREATE TABLE submission_events (seq INTEGER NOT NULL, submission TEXT NOT NULL, kind TEXT NOT NULL, person TEXT, content TEXT NOT NULL, at FLOAT NOT NULL, PRIMARY KEY (seq));
CREATE INDEX ix_submission_events_submission ON submission_events (submission);
CREATE TABLE access_requests (id TEXT NOT NULL, kind TEXT NOT NULL, token_hash TEXT, person TEXT, intake TEXT, name TEXT NOT NULL, about TEXT NOT NULL, policy_hash TEXT, at FLOAT NOT NULL, decided FLOAT, decided_by TEXT, accepted BOOLEAN, reason TEXT NOT NULL, PRIMARY KEY (id), UNIQUE (token_hash));
CREATE INDEX ix_access_requests_person ON access_requests (person);
CREATE INDEX ix_calls_run_cost ON calls (run, cost_usd);
-- 0006
CREATE TABLE handed_out (person TEXT NOT NULL, what TEXT NOT NULL, at FLOAT NOT NULL, PRIMARY KEY (person, what));
CREATE TABLE drafts (person TEXT NOT NULL, what TEXT NOT NULL, content TEXT NOT NULL, at FLOAT NOT NULL, PRIMARY KEY (person, what));
CREATE INDEX ix_proposal_events_growing_person ON proposal_events (growing, person);
-- 0007
ALTER TABLE people_studies ADD COLUMN closed FLOAT;
ALTER TABLE people_studies ADD COLUMN shown FLOAT;
ALTER TABLE people_studies ADD COLUMN aside FLOAT;
CREATE TABLE given_back (study TEXT NOT NULL, at FLOAT NOT NULL, PRIMARY KEY (study));
-- 0008
CREATE TABLE receipts (event INTEGER NOT NULL, submission TEXT NOT NULL, content TEXT NOT NULL, PRIMARY KEY (event));
CREATE INDEX ix_receipts_submission ON receipts (submission);
-- 0009
CREATE TABLE charges (seq INTEGER NOT NULL, run TEXT NOT NULL, usd FLOAT NOT NULL, PRIMARY KEY (seq));
CREATE INDEX ix_charges_run ON charges (run);
-- 0010
ALTER TABLE people_places ADD COLUMN replicate INTEGER;
-- 0011
CREATE TABLE budgets (name TEXT NOT NULL, taken BIGINT NOT NULL, PRIMARY KEY (name));
CREATE TABLE reservations (holder TEXT NOT NULL, budget TEXT NOT NULL, run TEXT, held BIGINT NOT NULL, until FLOAT NOT NULL, PRIMARY KEY (holder));
CREATE INDEX ix_reservations_budget ON reservations (budget);
CREATE INDEX ix_reservations_run ON reservations (run);
-- 0012
CREATE TABLE links (writer TEXT NOT NULL, number INTEGER NOT NULL, previous TEXT NOT NULL, joined TEXT NOT NULL, at FLOAT NOT NULL, rows TEXT NOT NULL, hash TEXT NOT NULL, PRIMARY KEY (writer, number));
CREATE TABLE tips (writer TEXT NOT NULL, number INTEGER NOT NULL, hash TEXT NOT NULL, PRIMARY KEY (writer));
-- 0013
CREATE TABLE board_versions (seq INTEGER NOT NULL, board TEXT NOT NULL, judge TEXT NOT NULL, judgement INTEGER NOT NULL, content TEXT NOT NULL, at FLOAT NOT NULL, PRIMARY KEY (seq));
CREATE INDEX ix_board_versions_judge ON board_versions (judge);
-- 0014
ALTER TABLE people_places ADD COLUMN checks TEXT;
ALTER TABLE people_places ADD COLUMN read FLOAT;
ALTER TABLE people_tasks ADD COLUMN probability FLOAT;
ALTER TABLE people_tasks ADD COLUMN kind TEXT;
ALTER TABLE people_tasks ADD COLUMN expected TEXT;
ALTER TABLE people_tasks ADD COLUMN why TEXT;
ALTER TABLE people_tasks ADD COLUMN comment TEXT;
ALTER TABLE people_tasks ADD COLUMN flag TEXT;
CREATE TABLE people_decisions (seq INTEGER NOT NULL, study TEXT NOT NULL, person TEXT NOT NULL, left_out BOOLEAN NOT NULL, rule TEXT NOT NULL, "by" TEXT, at FLOAT NOT NULL, PRIMARY KEY (seq));
CREATE INDEX ix_people_decisions_study ON people_decisions (study);
-- 0015
CREATE TABLE batches (id TEXT NOT NULL, endpoint TEXT NOT NULL, wire TEXT NOT NULL, run TEXT NOT NULL, state TEXT NOT NULL, file TEXT, name TEXT, entries INTEGER NOT NULL, done INTEGER, note TEXT, at FLOAT NOT NULL, changed FLOAT NOT NULL, expires FLOAT, PRIMARY KEY (id));
CREATE INDEX ix_batches_endpoint ON batches (endpoint);
CREATE INDEX ix_batches_run ON batches (run);
CREATE TABLE batch_entries (batch TEXT NOT NULL, call TEXT NOT NULL, held BIGINT NOT NULL, settled FLOAT, PRIMARY KEY (batch, call));
CREATE INDEX ix_batch_entries_call ON batch_entries (call);
-- 0016
ALTER TABLE opened_benchmarks ADD COLUMN closed FLOAT;
ALTER TABLE opened_benchmarks ADD COLUMN known INTEGER;
-- 0017
CREATE TABLE kept_files (kind TEXT NOT NULL, digest TEXT NOT NULL, size INTEGER NOT NULL, data BLOB NOT NULL, at FLOAT NOT NULL, PRIMARY KEY (kind, digest));
CREATE TABLE kept_notes (seq INTEGER NOT NULL, name TEXT NOT NULL, line TEXT NOT NULL, PRIMARY KEY (seq));
CREATE INDEX ix_kept_notes_name ON kept_notes (name);
-- 0018
CREATE INDEX ix_trials_again ON trials (attempt, "key") WHERE attempt > 0;
