"""Workers outside of the service: ask a sweep without a job for trials, train them here, tell what they measured."""
from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

from .curves import is_finite
from .endpoints import Endpoints

ASKING_PAUSE_S = 2.0
GOES_ON = "running"


class OutsideTrial:
    """A trial of a sweep that runs here."""

    def __init__(self, client: Endpoints, sweep: str, document: dict[str, Any]):
        self._client, self._sweep = client, sweep
        self.document = document

    @property
    def number(self) -> int:
        return self.document["number"]

    @property
    def point(self) -> dict[str, Any]:
        """The values to train with, by the names of the sweep's space."""
        return self.document["point"]

    @property
    def until(self) -> int | None:
        """Epochs or steps to train to before the sweep decides; None: to the end."""
        return self.document["until"]

    @property
    def is_over(self) -> bool:
        """Whether nothing more is to be done for it now: it ended, or waits to be suggested again (`paused`)."""
        return self.document["state"] != GOES_ON

    def report(self, value: float, time: int) -> bool:
        """Tells the objective after so many epochs or steps. False: stop training."""
        self._observe({"time": time, **_value(value)})
        return not self.is_over

    def complete(self, value: float | None = None, time: int | None = None) -> None:
        """Ends the trial. With its last value, which was measured after `time` epochs or steps: by default after `until`, or else
        one more than was reported last."""
        if value is None:
            self._observe({"end": "completed"})
            return
        measured_at = time or self.until or (self.document["last_time"] or 0) + 1
        self._observe({"time": measured_at, **_value(value), "end": "completed"})

    def fail(self) -> None:
        """Ends the trial as failed."""
        self._observe({"end": "failed"})

    def _observe(self, body: dict[str, Any]) -> None:
        self.document = self._client.observe_sweep_trial(self._sweep, self.number, body)


def _value(value: float) -> dict[str, Any]:
    number = float(value)
    return {"value": number} if is_finite(number) else {"nonfinite": str(number)}


def ask(client: Endpoints, sweep: str, pause_s: float = ASKING_PAUSE_S) -> Iterator[OutsideTrial]:
    """Trials to run, one at a time, until the sweep is over. Waits while it has none for now."""
    while True:
        answer = client.suggest_sweep_trials(sweep, {"count": 1})
        for document in answer["trials"]:
            yield OutsideTrial(client, sweep, document)
        if not answer["trials"]:
            if answer["state"] not in ("running", "paused"):
                return
            time.sleep(pause_s)


def work(client: Endpoints, sweep: str, objective: Callable[[OutsideTrial], float | None], pause_s: float = ASKING_PAUSE_S) -> int:
    """Runs `objective` for trial after trial until the sweep is over; returns how many.

    What it returns is the trial's last value; None when it has reported all values itself. A trial whose objective raises has
    failed, and the exception goes on.
    """
    count = 0
    for trial in ask(client, sweep, pause_s):
        count += 1
        try:
            value = objective(trial)
        except BaseException:
            if not trial.is_over:
                trial.fail()
            raise
        if not trial.is_over:
            trial.complete(value)
    return count
