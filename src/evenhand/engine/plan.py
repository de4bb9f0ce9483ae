"""What is still to be asked: the wanted trials minus what the ledger knows. Reads the ledger, changes nothing."""

import itertools
from collections.abc import Iterable, Iterator

from evenhand.domain.trial import Trial
from evenhand.engine.asking import Asking
from evenhand.engine.errand import Due, PlannedChunk
from evenhand.ledger.record import CHUNK, Ledger


def plan(
    trials: Iterable[Trial], *, asking: Asking, ledger: Ledger, only_failed: bool = False
) -> Iterator[PlannedChunk[Trial]]:
    """In chunks, so that a million trials do not sit in memory; `only_failed` plans nothing that was never asked."""
    stream = iter(trials)
    while chunk := list(itertools.islice(stream, CHUNK)):
        decided = ledger.decided((trial.key for trial in chunk), reader=asking.protocol.reader)
        open_trials = [trial for trial in chunk if trial.key not in decided]
        if only_failed:
            failed = ledger.failed(trial.key for trial in open_trials)
            open_trials = [trial for trial in open_trials if trial.key in failed]
        requests = {trial.key: asking.request(trial) for trial in open_trials}
        stored = ledger.find_calls(request.key for request in requests.values())
        yield PlannedChunk(
            known=tuple(trial.key for trial in chunk if trial.key in decided),
            due=tuple(
                Due(
                    key=trial.key,
                    subject=trial,
                    request=requests[trial.key],
                    stored=stored.get(requests[trial.key].key),
                )
                for trial in open_trials
            ),
        )
