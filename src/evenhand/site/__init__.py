"""Pages and API over a ledger. Never asks a model: what is wanted is put on record, and a worker does it.

How a request goes: `http/connection.py` waits for its headers so long and no longer; `http/request_guard.py` checks the
Host header, finds out who is asking (`http/visitor.py`), counts (`http/rate_limits.py`), and limits size and time.
A route in a `*_pages.py` or `api.py` asks for what it needs by its parameters' types
(`http/service.py`): `Serving` (ledger, boards, pages), `Visiting` (who), `Owner` (refuses anybody else), `SentForm`
(a form with its token checked) or, for the API's changes, `Changing`. It reads or writes the ledger in
`run_in_threadpool`, once if it can, as going to a thread costs more than a small query; and it answers with
`serving.pages.page(request, "template.html", {...})`.

To add pages:

- Make a router with `include_in_schema=False`, and name it in `app.ROUTERS`. The tests in tests/site/test_door.py walk
  every route of every router: a form without `SentForm`, or an owner's page without `Owner`, fails there.
- Every form in a template holds `{{ form() }}`. Read its fields with `form.text`, `form.number`, `form.choice`,
  `form.several`.
- `visiting.must_be("annotator", "owner")` gives the Person or refuses. `person.rater` is the Rater their judgements
  are stored under; its name is a number, so that `ledger.people.erase_name` leaves the record as it is.
- Refuse with `Refusal(status, "A sentence.")`; give `attack="refused: what"` where honest use does not lead there (a
  task of somebody else): it is written to the audit log and counted against the visitor. What people do goes to the log
  with `serving.watch.note(visiting, "what", "about")`; no names in it, as it outlives them.
- Whatever shows an item, an answer or a judge's words asks `visibility.sight` first and shows what it lets through.
- A path that takes uploads is named in `Limits.uploads` with its bytes. Its forms name `Known` before `SentForm`, so
  that nobody passing by makes the server read so much.
- A route of the API is made by a `DocumentRouter` (`openapi.py`) and returns a TypedDict that names the fields of its
  document: /openapi.json shows it, and the tests hold every answer against it (tests/site/described.py).
- A script or style is a file in static/, named `{{ static["name.js"] }}`: the policy allows nothing else, nor `style=`.
- Work tables are in `ledger/store/schema.py` (`tables.py` says what a change of them takes); SQL stays in `ledger/`.
- What takes long to work out goes through `serving.figures.kept`, as a function of a module with its arguments, for it
  is sent to a process that only reads (`http/figures_process.py`), and is kept by the state of the record; what takes
  long and is for one visitor, as a file to download, through `serving.at_length`. The threads that pages share are
  few: what many write at one moment goes through `serving.written`.
"""
