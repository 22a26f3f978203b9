"""One method per endpoint of the API; the transport below sends them.

Written by api/python/generate.py from the OpenAPI document; not edited by hand.
"""
from __future__ import annotations

from typing import Any, Literal

from .api_types import (
    AttemptList, AuditList, Capabilities, ChangedWebhook, Checkpoint, CheckpointList, Core,
    CoreList, CrossValidation, CrossValidationComparison, CrossValidationFolds,
    CrossValidationList, CrossValidationPreview, CrossValidationRetry, CrossValidationSpec,
    CrossValidationSummary, Dataset, DatasetCreate, DatasetList, DatasetPreview, DecisionList,
    Evaluation, EvaluationPreview, EvaluationSpec, EventList, Explanation, Graph, GraphList,
    Group, GroupList, GroupPut, Health, Host, HostDrain, HostList, IssuedJoinToken, IssuedToken,
    IssuedWebhook, Job, JobBulk, JobBulkResult, JobFork, JobList, JobMetricList, JobPatch,
    JobPreview, JobSpec, JoinTokenCreate, LogList, Login, LoginLink, Me, Member, MemberList,
    MemberPut, MetricList, PredictionPreview, PredictionSpec, Project, ProjectCreate,
    ProjectList, ProjectPatch, ProjectQuota, QueueList, QueueSimulate, QueueSimulation,
    QueueStats, Readiness, Report, RetentionList, RetryFailed, SliceList, Split, SplitCreate,
    SplitList, Sweep, SweepBest, SweepDecisionList, SweepEventList, SweepExtend,
    SweepImportance, SweepList, SweepObserve, SweepPatch, SweepPreview, SweepPromote,
    SweepRetry, SweepSimulate, SweepSimulation, SweepSpec, SweepSuggest, SweepSuggestions,
    SweepTrial, SweepTrialList, TokenCreate, TokenList, Upload, UploadCreate, Version, Webhook,
    WebhookCreate, WebhookDelivery, WebhookDeliveryList, WebhookList, WebhookPatch
)
from .transport import Transport, new_key, quoted


class Endpoints(Transport):
    """Every endpoint that answers with a document, by the name it has in the API."""

    def healthz(self) -> Health:
        """Liveness: the process is running. No credentials are needed."""
        return self.call("GET", "/healthz")

    def metrics(self) -> str:
        """Prometheus metrics. Requires the role `viewer` or a higher one."""
        return self.call_text("GET", "/metrics")

    def get_openapi(self) -> dict[str, Any]:
        """Get this OpenAPI document. No credentials are needed."""
        return self.call("GET", "/openapi.json")

    def readyz(self) -> Readiness:
        """Readiness: the database responds and the agent is running. Otherwise 503. No
        credentials are needed."""
        return self.call("GET", "/readyz")

    def list_audit(
            self,
            *,
            limit: int | None = None,
            cursor: str | None = None,
            token: str | None = None,
            action: str | None = None,
            object: str | None = None,
    ) -> AuditList:
        """List what was changed and by whom, newest first, with failed logins. Requires the role
        `admin`. Returns a page. While `next_cursor` is not null, pass it as `cursor` to get
        the next one."""
        return self.call(
                "GET",
                "/v1/audit",
                query={"limit": limit, "cursor": cursor, "token": token, "action": action, "object": object},
        )

    def get_capabilities(self) -> Capabilities:
        """List the architectures, optimizers, schedules and formats with their parameters. No
        credentials are needed."""
        return self.call("GET", "/v1/capabilities")

    def list_checkpoints(
            self,
            *,
            limit: int | None = None,
            cursor: str | None = None,
            project: str | None = None,
            job: str | None = None,
    ) -> CheckpointList:
        """List the checkpoints of all jobs, newest first. Requires the role `viewer` or a higher
        one. Returns a page. While `next_cursor` is not null, pass it as `cursor` to get the
        next one."""
        return self.call(
                "GET",
                "/v1/checkpoints",
                query={"limit": limit, "cursor": cursor, "project": project, "job": job},
        )

    def delete_checkpoint(self, id: str | int) -> None:
        """Delete a checkpoint that is not pinned and that no unfinished job needs. Requires the
        role `editor` or a higher one."""
        return self.call("DELETE", f"/v1/checkpoints/{quoted(id)}")

    def get_checkpoint(self, id: str | int) -> Checkpoint:
        """Get a checkpoint. Requires the role `viewer` or a higher one."""
        return self.call("GET", f"/v1/checkpoints/{quoted(id)}")

    def get_checkpoint_file(self, id: str | int, name: str | int) -> bytes:
        """Download a file of a checkpoint, or a range of it. Requires the role `viewer` or a
        higher one."""
        return self.call_bytes("GET", f"/v1/checkpoints/{quoted(id)}/files/{quoted(name)}")

    def pin_checkpoint(self, id: str | int, *, idempotency_key: str | None = None) -> Checkpoint:
        """Keep a checkpoint until it is unpinned or its job is deleted. Safe to repeat. Requires
        the role `editor` or a higher one. Send an `Idempotency-Key` to be able to repeat the
        request safely."""
        return self.call(
                "POST",
                f"/v1/checkpoints/{quoted(id)}/pin",
                idempotency_key=idempotency_key or new_key(),
        )

    def unpin_checkpoint(self, id: str | int, *, idempotency_key: str | None = None) -> Checkpoint:
        """Unpin a checkpoint, so that it may be pruned. Safe to repeat. Requires the role
        `editor` or a higher one. Send an `Idempotency-Key` to be able to repeat the request
        safely."""
        return self.call(
                "POST",
                f"/v1/checkpoints/{quoted(id)}/unpin",
                idempotency_key=idempotency_key or new_key(),
        )

    def get_checkpoint_weights(
            self,
            id: str | int,
            *,
            dtype: Literal['f32', 'bf16'] | None = None,
            weights: Literal['average', 'raw'] | None = None,
    ) -> bytes:
        """Export the weights as one safetensors file, with the parameter names of the reference
        implementation. Requires the role `viewer` or a higher one."""
        return self.call_bytes(
                "GET",
                f"/v1/checkpoints/{quoted(id)}/weights.safetensors",
                query={"dtype": dtype, "weights": weights},
        )

    def list_cores(self, *, host: str | None = None) -> CoreList:
        """List the virtual cores and the jobs that hold them. Requires the role `viewer` or a
        higher one."""
        return self.call("GET", "/v1/cores", query={"host": host})

    def get_core(self, n: str | int, *, host: str | None = None) -> Core:
        """Get a virtual core. Requires the role `viewer` or a higher one."""
        return self.call("GET", f"/v1/cores/{quoted(n)}", query={"host": host})

    def drain_core(
            self,
            n: str | int,
            *,
            host: str | None = None,
            reason: str | None = None,
    ) -> Core:
        """Stop scheduling new jobs on a core; a running job continues. Requires the role
        `admin`."""
        return self.call(
                "POST",
                f"/v1/cores/{quoted(n)}/drain",
                query={"host": host, "reason": reason},
        )

    def undrain_core(self, n: str | int, *, host: str | None = None) -> Core:
        """Resume scheduling jobs on a core. Requires the role `admin`."""
        return self.call("POST", f"/v1/cores/{quoted(n)}/undrain", query={"host": host})

    def list_cross_validations(
            self,
            *,
            limit: int | None = None,
            cursor: str | None = None,
            project: str | None = None,
            state: list[Literal['preparing', 'running', 'cancelling', 'succeeded', 'failed', 'cancelled']] | None = None,
    ) -> CrossValidationList:
        """List cross-validations, newest first. Requires the role `viewer` or a higher one.
        Returns a page. While `next_cursor` is not null, pass it as `cursor` to get the next
        one."""
        return self.call(
                "GET",
                "/v1/cross-validations",
                query={"limit": limit, "cursor": cursor, "project": project, "state": state},
        )

    def create_cross_validation(
            self,
            body: CrossValidationSpec,
            *,
            dry_run: bool | None = None,
            idempotency_key: str | None = None,
    ) -> CrossValidationPreview | CrossValidation:
        """Create a cross-validation: its split is created, then a job is submitted for each
        fold. With dry_run, returns a CrossValidationPreview with status 200. Requires the
        role `editor` or a higher one. Send an `Idempotency-Key` to be able to repeat the
        request safely."""
        return self.call(
                "POST",
                "/v1/cross-validations",
                body=body,
                query={"dry_run": dry_run},
                idempotency_key=idempotency_key or new_key(),
        )

    def delete_cross_validation(self, id: str | int) -> None:
        """Delete a cross-validation that has ended, with its jobs, their checkpoints and its
        out-of-fold predictions. Its split stays with the dataset. Requires the role `editor`
        or a higher one."""
        return self.call("DELETE", f"/v1/cross-validations/{quoted(id)}")

    def get_cross_validation(self, id: str | int, *, wait_s: int | None = None) -> CrossValidation:
        """Get a cross-validation. `Prefer: wait=N` waits up to N seconds for its state to
        change. Requires the role `viewer` or a higher one."""
        return self.call("GET", f"/v1/cross-validations/{quoted(id)}", wait_s=wait_s)

    def cancel_cross_validation(
            self,
            id: str | int,
            *,
            idempotency_key: str | None = None,
    ) -> CrossValidation:
        """Cancel the jobs of a cross-validation, and start no further ones. Folds that have
        ended keep their results. Requires the role `editor` or a higher one. Send an
        `Idempotency-Key` to be able to repeat the request safely."""
        return self.call(
                "POST",
                f"/v1/cross-validations/{quoted(id)}/cancel",
                idempotency_key=idempotency_key or new_key(),
        )

    def compare_cross_validations(
            self,
            id: str | int,
            *,
            with_: str | None = None,
    ) -> CrossValidationComparison:
        """Compare another cross-validation of the same split with this one, fold by fold. 409 if
        their splits differ. Requires the role `viewer` or a higher one."""
        return self.call(
                "GET",
                f"/v1/cross-validations/{quoted(id)}/compare",
                query={"with": with_},
        )

    def list_cross_validation_events(
            self,
            id: str | int,
            *,
            cursor: int | None = None,
            after: int | None = None,
            types: list[Literal['state', 'progress', 'end']] | None = None,
            limit: int | None = None,
    ) -> EventList:
        """List the events of a cross-validation in order: its states, and those of its folds
        (progress). A page as JSON, or a live stream for `Accept: text/event-stream`. Requires
        the role `viewer` or a higher one. Returns a page. While `next_cursor` is not null,
        pass it as `cursor` to get the next one."""
        return self.call(
                "GET",
                f"/v1/cross-validations/{quoted(id)}/events",
                query={"cursor": cursor, "after": after, "types": types, "limit": limit},
        )

    def list_cross_validation_folds(self, id: str | int) -> CrossValidationFolds:
        """List all folds in their order: state, jobs, counts and metrics. Requires the role
        `viewer` or a higher one."""
        return self.call("GET", f"/v1/cross-validations/{quoted(id)}/folds")

    def get_cross_validation_oof(self, id: str | int) -> str:
        """Download the out-of-fold predictions: each sample, predicted by the fold that
        validates on it, in dataset order. 404 `no_result` until every fold has succeeded.
        Requires the role `viewer` or a higher one."""
        return self.call_text("GET", f"/v1/cross-validations/{quoted(id)}/oof")

    def retry_cross_validation(
            self,
            id: str | int,
            body: RetryFailed,
            *,
            dry_run: bool | None = None,
            idempotency_key: str | None = None,
    ) -> CrossValidationRetry:
        """Retry all folds that failed or were cancelled, or those that failed for certain
        reasons; a cross-validation that has ended continues. Folds that have succeeded keep
        their results. Safe to repeat. Requires the role `editor` or a higher one. Send an
        `Idempotency-Key` to be able to repeat the request safely."""
        return self.call(
                "POST",
                f"/v1/cross-validations/{quoted(id)}/retry",
                body=body,
                query={"dry_run": dry_run},
                idempotency_key=idempotency_key or new_key(),
        )

    def get_cross_validation_summary(self, id: str | int) -> CrossValidationSummary:
        """Mean, spread and errors of each metric over the folds that have succeeded so far.
        Requires the role `viewer` or a higher one."""
        return self.call("GET", f"/v1/cross-validations/{quoted(id)}/summary")

    def list_datasets(
            self,
            *,
            limit: int | None = None,
            cursor: str | None = None,
            project: str | None = None,
            state: Literal['checking', 'ready', 'failed'] | None = None,
            format: str | None = None,
            name: str | None = None,
    ) -> DatasetList:
        """List datasets, newest first. Requires the role `viewer` or a higher one. Returns a
        page. While `next_cursor` is not null, pass it as `cursor` to get the next one."""
        return self.call(
                "GET",
                "/v1/datasets",
                query={"limit": limit, "cursor": cursor, "project": project, "state": state, "format": format, "name": name},
        )

    def create_dataset(
            self,
            body: DatasetCreate,
            *,
            dry_run: bool | None = None,
            idempotency_key: str | None = None,
    ) -> DatasetCreate | Dataset:
        """Create a dataset from a folder or an upload. It is checked in the background. Requires
        the role `editor` or a higher one. Send an `Idempotency-Key` to be able to repeat the
        request safely."""
        return self.call(
                "POST",
                "/v1/datasets",
                body=body,
                query={"dry_run": dry_run},
                idempotency_key=idempotency_key or new_key(),
        )

    def delete_dataset(self, id: str | int) -> None:
        """Delete a dataset that no unfinished job uses. Requires the role `editor` or a higher
        one."""
        return self.call("DELETE", f"/v1/datasets/{quoted(id)}")

    def get_dataset(
            self,
            id: str | int,
            *,
            project: str | None = None,
            wait_s: int | None = None,
    ) -> Dataset:
        """Get a dataset by id or name. `Prefer: wait=N` waits up to N seconds while it is being
        checked. Requires the role `viewer` or a higher one."""
        return self.call(
                "GET",
                f"/v1/datasets/{quoted(id)}",
                query={"project": project},
                wait_s=wait_s,
        )

    def get_dataset_preview(
            self,
            id: str | int,
            *,
            project: str | None = None,
            n: int | None = None,
    ) -> DatasetPreview:
        """Get a few samples, spread evenly over the dataset. Requires the role `viewer` or a
        higher one."""
        return self.call(
                "GET",
                f"/v1/datasets/{quoted(id)}/preview",
                query={"project": project, "n": n},
        )

    def list_splits(
            self,
            id: str | int,
            *,
            limit: int | None = None,
            cursor: str | None = None,
            project: str | None = None,
    ) -> SplitList:
        """List the splits of a dataset, newest first, without their reports. Requires the role
        `viewer` or a higher one. Returns a page. While `next_cursor` is not null, pass it as
        `cursor` to get the next one."""
        return self.call(
                "GET",
                f"/v1/datasets/{quoted(id)}/splits",
                query={"limit": limit, "cursor": cursor, "project": project},
        )

    def create_split(
            self,
            id: str | int,
            body: SplitCreate,
            *,
            project: str | None = None,
            idempotency_key: str | None = None,
    ) -> Split:
        """Create a stored split, which never changes; it is generated in the background. Jobs
        refer to it by id and fold. Requires the role `editor` or a higher one. Send an
        `Idempotency-Key` to be able to repeat the request safely."""
        return self.call(
                "POST",
                f"/v1/datasets/{quoted(id)}/splits",
                body=body,
                query={"project": project},
                idempotency_key=idempotency_key or new_key(),
        )

    def delete_split(self, id: str | int, sid: str | int, *, project: str | None = None) -> None:
        """Delete a split that no unfinished job uses. Requires the role `editor` or a higher
        one."""
        return self.call(
                "DELETE",
                f"/v1/datasets/{quoted(id)}/splits/{quoted(sid)}",
                query={"project": project},
        )

    def get_split(
            self,
            id: str | int,
            sid: str | int,
            *,
            project: str | None = None,
            wait_s: int | None = None,
    ) -> Split:
        """Get a split with its counts and its certificate. `Prefer: wait=N` waits up to N
        seconds until it is generated. Requires the role `viewer` or a higher one."""
        return self.call(
                "GET",
                f"/v1/datasets/{quoted(id)}/splits/{quoted(sid)}",
                query={"project": project},
                wait_s=wait_s,
        )

    def get_split_manifest(
            self,
            id: str | int,
            sid: str | int,
            *,
            project: str | None = None,
    ) -> dict[str, Any]:
        """Download the manifest: the validation fold of each sample. See docs/formats.md, Stored
        splits. Requires the role `viewer` or a higher one."""
        return self.call(
                "GET",
                f"/v1/datasets/{quoted(id)}/splits/{quoted(sid)}/manifest",
                query={"project": project},
        )

    def list_decisions(
            self,
            *,
            job: str | None = None,
            project: str | None = None,
            limit: int | None = None,
            cursor: str | None = None,
    ) -> DecisionList:
        """List what the scheduler decided on jobs and why, newest first. Decisions are kept for
        7 days. Requires the role `viewer` or a higher one. Returns a page. While
        `next_cursor` is not null, pass it as `cursor` to get the next one."""
        return self.call(
                "GET",
                "/v1/decisions",
                query={"job": job, "project": project, "limit": limit, "cursor": cursor},
        )

    def list_evaluations(
            self,
            *,
            limit: int | None = None,
            cursor: str | None = None,
            project: str | None = None,
            state: list[Literal['queued', 'starting', 'compiling', 'running', 'finishing', 'succeeded', 'preempting', 'pausing', 'paused', 'cancelling', 'cancelled', 'failed', 'stopped', 'timed_out', 'expired']] | None = None,
            dataset: str | None = None,
    ) -> JobList:
        """List evaluations (jobs of kind evaluate), newest first. Requires the role `viewer` or
        a higher one. Returns a page. While `next_cursor` is not null, pass it as `cursor` to
        get the next one."""
        return self.call(
                "GET",
                "/v1/evaluations",
                query={"limit": limit, "cursor": cursor, "project": project, "state": state, "dataset": dataset},
        )

    def create_evaluation(
            self,
            body: EvaluationSpec,
            *,
            dry_run: bool | None = None,
            idempotency_key: str | None = None,
    ) -> EvaluationPreview | Job:
        """Submit an evaluation: a job of kind evaluate that measures a checkpoint on labelled
        samples. With dry_run, returns an EvaluationPreview with status 200. Requires the role
        `editor` or a higher one. Send an `Idempotency-Key` to be able to repeat the request
        safely."""
        return self.call(
                "POST",
                "/v1/evaluations",
                body=body,
                query={"dry_run": dry_run},
                idempotency_key=idempotency_key or new_key(),
        )

    def get_evaluation(self, id: str | int, *, wait_s: int | None = None) -> Job:
        """Get an evaluation: its metrics are `result`. `Prefer: wait=N` waits up to N seconds
        for its state to change. Requires the role `viewer` or a higher one."""
        return self.call("GET", f"/v1/evaluations/{quoted(id)}", wait_s=wait_s)

    def list_hosts(self) -> HostList:
        """List the hosts and their resources. Requires the role `viewer` or a higher one."""
        return self.call("GET", "/v1/hosts")

    def create_join_token(
            self,
            body: JoinTokenCreate,
            *,
            idempotency_key: str | None = None,
    ) -> IssuedJoinToken:
        """Create a token that lets a removed host, or a new one, join; the secret is returned
        only once. Requires the role `admin`. Send an `Idempotency-Key` to be able to repeat
        the request safely."""
        return self.call(
                "POST",
                "/v1/hosts/join-tokens",
                body=body,
                idempotency_key=idempotency_key or new_key(),
        )

    def delete_host(self, h: str | int) -> None:
        """Remove a host that is drained or lost and runs no attempt. It runs no jobs from then
        on, until it joins again with a token. Requires the role `admin`."""
        return self.call("DELETE", f"/v1/hosts/{quoted(h)}")

    def get_host(self, h: str | int) -> Host:
        """Get a host. Requires the role `viewer` or a higher one."""
        return self.call("GET", f"/v1/hosts/{quoted(h)}")

    def drain_host(self, h: str | int, body: HostDrain) -> Host:
        """Stop scheduling new jobs on a host; running jobs continue. Requires the role `admin`."""
        return self.call("POST", f"/v1/hosts/{quoted(h)}/drain", body=body)

    def undrain_host(self, h: str | int) -> Host:
        """Resume scheduling jobs on a host. Requires the role `admin`."""
        return self.call("POST", f"/v1/hosts/{quoted(h)}/undrain")

    def list_jobs(
            self,
            *,
            limit: int | None = None,
            cursor: str | None = None,
            project: str | None = None,
            state: list[Literal['queued', 'starting', 'compiling', 'running', 'finishing', 'succeeded', 'preempting', 'pausing', 'paused', 'cancelling', 'cancelled', 'failed', 'stopped', 'timed_out', 'expired']] | None = None,
            name: str | None = None,
            label: str | None = None,
            dataset: str | None = None,
            kind: Literal['train', 'predict', 'evaluate'] | None = None,
            parent: str | None = None,
            created_after: str | None = None,
            created_before: str | None = None,
            finished_after: str | None = None,
            finished_before: str | None = None,
            order_by: Literal['created_at', '-created_at', 'name', '-name', 'finished_at', '-finished_at', 'best', '-best', 'last', '-last'] | None = None,
            metric: str | None = None,
            mode: Literal['min', 'max'] | None = None,
    ) -> JobList:
        """List jobs, newest first. Requires the role `viewer` or a higher one. Returns a page.
        While `next_cursor` is not null, pass it as `cursor` to get the next one."""
        return self.call(
                "GET",
                "/v1/jobs",
                query={"limit": limit, "cursor": cursor, "project": project, "state": state, "name": name, "label": label, "dataset": dataset, "kind": kind, "parent": parent, "created_after": created_after, "created_before": created_before, "finished_after": finished_after, "finished_before": finished_before, "order_by": order_by, "metric": metric, "mode": mode},
        )

    def create_job(
            self,
            body: JobSpec,
            *,
            dry_run: bool | None = None,
            idempotency_key: str | None = None,
    ) -> JobPreview | Job:
        """Submit a job. With dry_run, returns a JobPreview with status 200. Requires the role
        `editor` or a higher one. Send an `Idempotency-Key` to be able to repeat the request
        safely."""
        return self.call(
                "POST",
                "/v1/jobs",
                body=body,
                query={"dry_run": dry_run},
                idempotency_key=idempotency_key or new_key(),
        )

    def bulk_jobs(
            self,
            body: JobBulk,
            *,
            dry_run: bool | None = None,
            idempotency_key: str | None = None,
    ) -> JobBulkResult:
        """Cancel, kill, pause, resume or delete all jobs that match a filter, at most 1000 at a
        time. Requires the role `editor` or a higher one. Send an `Idempotency-Key` to be able
        to repeat the request safely."""
        return self.call(
                "POST",
                "/v1/jobs/bulk",
                body=body,
                query={"dry_run": dry_run},
                idempotency_key=idempotency_key or new_key(),
        )

    def delete_job(self, id: str | int) -> None:
        """Delete a job that has ended, with its events, metrics and checkpoints. Requires the
        role `editor` or a higher one."""
        return self.call("DELETE", f"/v1/jobs/{quoted(id)}")

    def get_job(self, id: str | int, *, wait_s: int | None = None) -> Job:
        """Get a job. `Prefer: wait=N` waits up to N seconds for its state to change. Requires
        the role `viewer` or a higher one."""
        return self.call("GET", f"/v1/jobs/{quoted(id)}", wait_s=wait_s)

    def patch_job(self, id: str | int, body: JobPatch) -> Job:
        """Change the name, the labels or, while the job is queued, the class or the pool.
        Supports If-Match. Requires the role `editor` or a higher one."""
        return self.call("PATCH", f"/v1/jobs/{quoted(id)}", body=body)

    def list_job_attempts(
            self,
            id: str | int,
            *,
            limit: int | None = None,
            cursor: str | None = None,
    ) -> AttemptList:
        """List the newest attempts to run a job, first to last; the next page holds those before
        them. Requires the role `viewer` or a higher one. Returns a page. While `next_cursor`
        is not null, pass it as `cursor` to get the next one."""
        return self.call(
                "GET",
                f"/v1/jobs/{quoted(id)}/attempts",
                query={"limit": limit, "cursor": cursor},
        )

    def cancel_job(self, id: str | int, *, idempotency_key: str | None = None) -> Job:
        """Cancel a job; its checkpoints are kept. Safe to repeat. Requires the role `editor` or
        a higher one. Send an `Idempotency-Key` to be able to repeat the request safely."""
        return self.call(
                "POST",
                f"/v1/jobs/{quoted(id)}/cancel",
                idempotency_key=idempotency_key or new_key(),
        )

    def checkpoint_job(self, id: str | int, *, idempotency_key: str | None = None) -> Job:
        """Save a checkpoint after the current step; training continues. The event `checkpoint`
        reports it. Requires the role `editor` or a higher one. Send an `Idempotency-Key` to
        be able to repeat the request safely."""
        return self.call(
                "POST",
                f"/v1/jobs/{quoted(id)}/checkpoint",
                idempotency_key=idempotency_key or new_key(),
        )

    def list_job_checkpoints(
            self,
            id: str | int,
            *,
            limit: int | None = None,
            cursor: str | None = None,
    ) -> CheckpointList:
        """List the checkpoints of a job, newest first. Requires the role `viewer` or a higher
        one. Returns a page. While `next_cursor` is not null, pass it as `cursor` to get the
        next one."""
        return self.call(
                "GET",
                f"/v1/jobs/{quoted(id)}/checkpoints",
                query={"limit": limit, "cursor": cursor},
        )

    def get_job_evaluation(self, id: str | int) -> Evaluation:
        """Get the last evaluation in full: every metric, the values per label and the confusion
        matrix. 404 until there is one. Requires the role `viewer` or a higher one."""
        return self.call("GET", f"/v1/jobs/{quoted(id)}/evaluation")

    def list_job_events(
            self,
            id: str | int,
            *,
            cursor: int | None = None,
            after: int | None = None,
            types: list[Literal['state', 'progress', 'metric', 'log', 'checkpoint', 'compile', 'warning', 'gap', 'end']] | None = None,
            limit: int | None = None,
    ) -> EventList:
        """List the events of a job in order: a page as JSON, or a live stream for `Accept:
        text/event-stream`. Requires the role `viewer` or a higher one. Returns a page. While
        `next_cursor` is not null, pass it as `cursor` to get the next one."""
        return self.call(
                "GET",
                f"/v1/jobs/{quoted(id)}/events",
                query={"cursor": cursor, "after": after, "types": types, "limit": limit},
        )

    def explain_job(self, id: str | int) -> Explanation:
        """Explain the state of a job: while it is queued, what it waits for. Requires the role
        `viewer` or a higher one."""
        return self.call("GET", f"/v1/jobs/{quoted(id)}/explain")

    def fork_job(
            self,
            id: str | int,
            body: JobFork,
            *,
            dry_run: bool | None = None,
            idempotency_key: str | None = None,
    ) -> JobPreview | Job:
        """Submit a training job made from this one, with changes, from one of its checkpoints or
        from scratch. Requires the role `editor` or a higher one. Send an `Idempotency-Key` to
        be able to repeat the request safely."""
        return self.call(
                "POST",
                f"/v1/jobs/{quoted(id)}/fork",
                body=body,
                query={"dry_run": dry_run},
                idempotency_key=idempotency_key or new_key(),
        )

    def list_job_graphs(self, id: str | int) -> GraphList:
        """List the compiled programs of a job. Requires the role `viewer` or a higher one."""
        return self.call("GET", f"/v1/jobs/{quoted(id)}/graphs")

    def get_job_graph(
            self,
            id: str | int,
            hash: str | int,
            *,
            format: Literal['json', 'ir', 'stablehlo', 'dot', 'program'] | None = None,
    ) -> Graph:
        """Get a compiled program: graph, kernels and memory plan. Requires the role `viewer` or
        a higher one."""
        return self.call(
                "GET",
                f"/v1/jobs/{quoted(id)}/graphs/{quoted(hash)}",
                query={"format": format},
        )

    def kill_job(self, id: str | int, *, idempotency_key: str | None = None) -> Job:
        """Kill a job at once, without saving a checkpoint. Safe to repeat. Requires the role
        `editor` or a higher one. Send an `Idempotency-Key` to be able to repeat the request
        safely."""
        return self.call(
                "POST",
                f"/v1/jobs/{quoted(id)}/kill",
                idempotency_key=idempotency_key or new_key(),
        )

    def list_job_logs(
            self,
            id: str | int,
            *,
            cursor: int | None = None,
            after: int | None = None,
            level: Literal['info', 'warn', 'error'] | None = None,
            q: str | None = None,
            limit: int | None = None,
    ) -> LogList:
        """List the log lines of a job in order. As text, a page that is not the last has a Link
        header with rel=next. Requires the role `viewer` or a higher one. Returns a page.
        While `next_cursor` is not null, pass it as `cursor` to get the next one."""
        return self.call(
                "GET",
                f"/v1/jobs/{quoted(id)}/logs",
                query={"cursor": cursor, "after": after, "level": level, "q": q, "limit": limit},
        )

    def list_job_metrics(
            self,
            id: str | int,
            *,
            names: list[str] | None = None,
            step_min: int | None = None,
            step_max: int | None = None,
            resolution: int | None = None,
    ) -> MetricList:
        """Get the metric curves of a job. Requires the role `viewer` or a higher one."""
        return self.call(
                "GET",
                f"/v1/jobs/{quoted(id)}/metrics",
                query={"names": names, "step_min": step_min, "step_max": step_max, "resolution": resolution},
        )

    def get_job_metrics_csv(
            self,
            id: str | int,
            *,
            names: list[str] | None = None,
            form: Literal['points', 'table'] | None = None,
    ) -> str:
        """Get the metric curves as CSV: all points; curves with more than 200,000 points in all
        are thinned evenly. The header X-Thinned is true if they are thinned. Requires the
        role `viewer` or a higher one."""
        return self.call_text(
                "GET",
                f"/v1/jobs/{quoted(id)}/metrics.csv",
                query={"names": names, "form": form},
        )

    def pause_job(self, id: str | int, *, idempotency_key: str | None = None) -> Job:
        """Pause a job: it saves a checkpoint and frees its cores. Safe to repeat. Requires the
        role `editor` or a higher one. Send an `Idempotency-Key` to be able to repeat the
        request safely."""
        return self.call(
                "POST",
                f"/v1/jobs/{quoted(id)}/pause",
                idempotency_key=idempotency_key or new_key(),
        )

    def get_job_report(
            self,
            id: str | int,
            *,
            format: Literal['json', 'text'] | None = None,
            epoch: int | None = None,
    ) -> Report:
        """Report where the job spends its time, and how to make it faster. 404 until the job has
        run. Requires the role `viewer` or a higher one."""
        return self.call(
                "GET",
                f"/v1/jobs/{quoted(id)}/report",
                query={"format": format, "epoch": epoch},
        )

    def resume_job(self, id: str | int, *, idempotency_key: str | None = None) -> Job:
        """Queue a paused job again, ordered by its original age. Safe to repeat. Requires the
        role `editor` or a higher one. Send an `Idempotency-Key` to be able to repeat the
        request safely."""
        return self.call(
                "POST",
                f"/v1/jobs/{quoted(id)}/resume",
                idempotency_key=idempotency_key or new_key(),
        )

    def retry_job(
            self,
            id: str | int,
            *,
            dry_run: bool | None = None,
            idempotency_key: str | None = None,
    ) -> JobPreview | Job:
        """Submit a job that has ended without success again. A training job continues from its
        newest checkpoint. Requires the role `editor` or a higher one. Send an
        `Idempotency-Key` to be able to repeat the request safely."""
        return self.call(
                "POST",
                f"/v1/jobs/{quoted(id)}/retry",
                query={"dry_run": dry_run},
                idempotency_key=idempotency_key or new_key(),
        )

    def get_job_spec(self, id: str | int, *, as_: Literal['json', 'curl'] | None = None) -> JobSpec:
        """Get the spec with every default filled in, or the curl command that submits it.
        Requires the role `viewer` or a higher one."""
        return self.call("GET", f"/v1/jobs/{quoted(id)}/spec", query={"as": as_})

    def get_job_tensorboard(self, id: str | int) -> bytes:
        """Download the metric curves of all attempts as one TensorBoard event file. 404 until
        the job runs. Requires the role `viewer` or a higher one."""
        return self.call_bytes("GET", f"/v1/jobs/{quoted(id)}/tensorboard")

    def get_job_trace(self, id: str | int) -> dict[str, Any]:
        """Download a timeline in the trace event format, for chrome://tracing or Perfetto.
        Requires the role `viewer` or a higher one."""
        return self.call("GET", f"/v1/jobs/{quoted(id)}/trace")

    def login(self, body: Login) -> Me:
        """Exchange a token for a session cookie. No credentials are needed."""
        return self.call("POST", "/v1/login", body=body)

    def create_login_link(self, *, keep_s: int | None = None) -> LoginLink:
        """Create a link that signs a browser in once, with the permissions of the calling token.
        Requires the role `viewer` or a higher one."""
        return self.call("POST", "/v1/login-links", query={"keep_s": keep_s})

    def logout(self) -> None:
        """End the browser session. No credentials are needed."""
        return self.call("POST", "/v1/logout")

    def get_me(self) -> Me:
        """Get the identity and the permissions of the calling token. Requires the role `viewer`
        or a higher one."""
        return self.call("GET", "/v1/me")

    def list_metrics(
            self,
            *,
            jobs: list[str] | None = None,
            names: list[str] | None = None,
            resolution: int | None = None,
    ) -> JobMetricList:
        """Get the metric curves of several jobs, to compare them. Requires the role `viewer` or
        a higher one."""
        return self.call(
                "GET",
                "/v1/metrics",
                query={"jobs": jobs, "names": names, "resolution": resolution},
        )

    def list_predictions(
            self,
            *,
            limit: int | None = None,
            cursor: str | None = None,
            project: str | None = None,
            state: list[Literal['queued', 'starting', 'compiling', 'running', 'finishing', 'succeeded', 'preempting', 'pausing', 'paused', 'cancelling', 'cancelled', 'failed', 'stopped', 'timed_out', 'expired']] | None = None,
            dataset: str | None = None,
    ) -> JobList:
        """List predictions (jobs of kind predict), newest first. Requires the role `viewer` or a
        higher one. Returns a page. While `next_cursor` is not null, pass it as `cursor` to
        get the next one."""
        return self.call(
                "GET",
                "/v1/predictions",
                query={"limit": limit, "cursor": cursor, "project": project, "state": state, "dataset": dataset},
        )

    def create_prediction(
            self,
            body: PredictionSpec,
            *,
            dry_run: bool | None = None,
            idempotency_key: str | None = None,
    ) -> PredictionPreview | Job:
        """Submit a prediction: a job of kind predict that runs a checkpoint over a dataset. With
        dry_run, returns a PredictionPreview with status 200. Requires the role `editor` or a
        higher one. Send an `Idempotency-Key` to be able to repeat the request safely."""
        return self.call(
                "POST",
                "/v1/predictions",
                body=body,
                query={"dry_run": dry_run},
                idempotency_key=idempotency_key or new_key(),
        )

    def get_prediction(self, id: str | int, *, wait_s: int | None = None) -> Job:
        """Get a prediction. `Prefer: wait=N` waits up to N seconds for its state to change.
        Requires the role `viewer` or a higher one."""
        return self.call("GET", f"/v1/predictions/{quoted(id)}", wait_s=wait_s)

    def get_prediction_result(self, id: str | int) -> str:
        """Download the result: one row per sample, in dataset order. 404 `no_result` until the
        job has succeeded. Requires the role `viewer` or a higher one."""
        return self.call_text("GET", f"/v1/predictions/{quoted(id)}/result.csv")

    def list_projects(self, *, limit: int | None = None, cursor: str | None = None) -> ProjectList:
        """List the projects with their weight, quota and usage, by name. Requires the role
        `viewer` or a higher one. Returns a page. While `next_cursor` is not null, pass it as
        `cursor` to get the next one."""
        return self.call("GET", "/v1/projects", query={"limit": limit, "cursor": cursor})

    def create_project(self, body: ProjectCreate, *, idempotency_key: str | None = None) -> Project:
        """Create a project. A dataset in a new project creates it, too. Requires the role
        `admin`. Send an `Idempotency-Key` to be able to repeat the request safely."""
        return self.call(
                "POST",
                "/v1/projects",
                body=body,
                idempotency_key=idempotency_key or new_key(),
        )

    def get_project(self, p: str | int) -> Project:
        """Get a project. Requires the role `viewer` or a higher one."""
        return self.call("GET", f"/v1/projects/{quoted(p)}")

    def patch_project(self, p: str | int, body: ProjectPatch) -> Project:
        """Change the weight of a project. Requires the role `admin`."""
        return self.call("PATCH", f"/v1/projects/{quoted(p)}", body=body)

    def list_groups(
            self,
            p: str | int,
            *,
            limit: int | None = None,
            cursor: str | None = None,
    ) -> GroupList:
        """List the groups of jobs of a project that have a limit, by name. Requires the role
        `viewer` or a higher one. Returns a page. While `next_cursor` is not null, pass it as
        `cursor` to get the next one."""
        return self.call(
                "GET",
                f"/v1/projects/{quoted(p)}/groups",
                query={"limit": limit, "cursor": cursor},
        )

    def put_group(self, p: str | int, g: str | int, body: GroupPut) -> Group:
        """Set how many jobs of a group run at the same time. Requires the role `editor` or a
        higher one."""
        return self.call("PUT", f"/v1/projects/{quoted(p)}/groups/{quoted(g)}", body=body)

    def list_members(
            self,
            p: str | int,
            *,
            limit: int | None = None,
            cursor: str | None = None,
    ) -> MemberList:
        """List the members of a project with their roles, by name. Requires the role `viewer` or
        a higher one. Returns a page. While `next_cursor` is not null, pass it as `cursor` to
        get the next one."""
        return self.call(
                "GET",
                f"/v1/projects/{quoted(p)}/members",
                query={"limit": limit, "cursor": cursor},
        )

    def delete_member(self, p: str | int, m: str | int) -> None:
        """Remove a member from a project. Takes effect at once. Requires the role `admin`."""
        return self.call("DELETE", f"/v1/projects/{quoted(p)}/members/{quoted(m)}")

    def get_member(self, p: str | int, m: str | int) -> Member:
        """Get the role of a member in a project. Requires the role `viewer` or a higher one."""
        return self.call("GET", f"/v1/projects/{quoted(p)}/members/{quoted(m)}")

    def put_member(self, p: str | int, m: str | int, body: MemberPut) -> Member:
        """Give a member a role in a project. Takes effect at once; safe to repeat. Requires the
        role `admin`."""
        return self.call("PUT", f"/v1/projects/{quoted(p)}/members/{quoted(m)}", body=body)

    def get_project_quota(self, p: str | int) -> ProjectQuota:
        """Get the quota of a project. Requires the role `viewer` or a higher one."""
        return self.call("GET", f"/v1/projects/{quoted(p)}/quota")

    def put_project_quota(self, p: str | int, body: ProjectQuota) -> ProjectQuota:
        """Set the quota of a project. An absent field means no quota. Requires the role `admin`."""
        return self.call("PUT", f"/v1/projects/{quoted(p)}/quota", body=body)

    def list_queue(self, *, limit: int | None = None, cursor: str | None = None) -> QueueList:
        """List the queued jobs in scheduling order, including held ones. Requires the role
        `viewer` or a higher one. Returns a page. While `next_cursor` is not null, pass it as
        `cursor` to get the next one."""
        return self.call("GET", "/v1/queue", query={"limit": limit, "cursor": cursor})

    def simulate_queue(
            self,
            body: QueueSimulate,
            *,
            idempotency_key: str | None = None,
    ) -> QueueSimulation:
        """Simulate when a job would start and which jobs it would delay, with another class or
        more hosts; store nothing. Requires the role `editor` or a higher one. Send an
        `Idempotency-Key` to be able to repeat the request safely."""
        return self.call(
                "POST",
                "/v1/queue/simulate",
                body=body,
                idempotency_key=idempotency_key or new_key(),
        )

    def get_queue_stats(self, *, project: str | None = None) -> QueueStats:
        """Count the queued jobs by class, project and reason, with rates and waiting times.
        Requires the role `viewer` or a higher one."""
        return self.call("GET", "/v1/queue/stats", query={"project": project})

    def preview_retention(
            self,
            *,
            events_days: int | None = None,
            logs_days: int | None = None,
            metrics_days: int | None = None,
            checkpoints_days: int | None = None,
            jobs_days: int | None = None,
    ) -> RetentionList:
        """Show how long the service keeps data of ended jobs, and what it would remove now, with
        its own policy or with another one. This request removes nothing. Requires the role
        `admin`."""
        return self.call(
                "GET",
                "/v1/retention",
                query={"events_days": events_days, "logs_days": logs_days, "metrics_days": metrics_days, "checkpoints_days": checkpoints_days, "jobs_days": jobs_days},
        )

    def list_slices(self, *, project: str | None = None) -> SliceList:
        """List the running slices: jobs, hosts and ranks. Requires the role `viewer` or a higher
        one."""
        return self.call("GET", "/v1/slices", query={"project": project})

    def list_sweeps(
            self,
            *,
            limit: int | None = None,
            cursor: str | None = None,
            project: str | None = None,
            state: list[Literal['running', 'paused', 'stopping', 'finished', 'stopped', 'failed']] | None = None,
            name: str | None = None,
            label: str | None = None,
    ) -> SweepList:
        """List sweeps, newest first. Requires the role `viewer` or a higher one. Returns a page.
        While `next_cursor` is not null, pass it as `cursor` to get the next one."""
        return self.call(
                "GET",
                "/v1/sweeps",
                query={"limit": limit, "cursor": cursor, "project": project, "state": state, "name": name, "label": label},
        )

    def create_sweep(
            self,
            body: SweepSpec,
            *,
            dry_run: bool | None = None,
            idempotency_key: str | None = None,
    ) -> SweepPreview | Sweep:
        """Start a sweep. With dry_run, returns a SweepPreview with its first trials and status
        200. Requires the role `editor` or a higher one. Send an `Idempotency-Key` to be able
        to repeat the request safely."""
        return self.call(
                "POST",
                "/v1/sweeps",
                body=body,
                query={"dry_run": dry_run},
                idempotency_key=idempotency_key or new_key(),
        )

    def delete_sweep(self, id: str | int) -> None:
        """Delete a sweep that has ended, with its trials and their jobs. Requires the role
        `editor` or a higher one."""
        return self.call("DELETE", f"/v1/sweeps/{quoted(id)}")

    def get_sweep(self, id: str | int, *, wait_s: int | None = None) -> Sweep:
        """Get a sweep. `Prefer: wait=N` waits up to N seconds for it to change. Requires the
        role `viewer` or a higher one."""
        return self.call("GET", f"/v1/sweeps/{quoted(id)}", wait_s=wait_s)

    def patch_sweep(self, id: str | int, body: SweepPatch) -> Sweep:
        """Change the name, the labels or the number of concurrent trials. Requires the role
        `editor` or a higher one."""
        return self.call("PATCH", f"/v1/sweeps/{quoted(id)}", body=body)

    def get_sweep_best(self, id: str | int) -> SweepBest:
        """Get the best trial with its point and its checkpoint. Requires the role `viewer` or a
        higher one."""
        return self.call("GET", f"/v1/sweeps/{quoted(id)}/best")

    def list_sweep_decisions(
            self,
            id: str | int,
            *,
            limit: int | None = None,
            cursor: int | None = None,
            after: int | None = None,
    ) -> SweepDecisionList:
        """List what the sweep decided and why, in order. Requires the role `viewer` or a higher
        one. Returns a page. While `next_cursor` is not null, pass it as `cursor` to get the
        next one."""
        return self.call(
                "GET",
                f"/v1/sweeps/{quoted(id)}/decisions",
                query={"limit": limit, "cursor": cursor, "after": after},
        )

    def list_sweep_events(
            self,
            id: str | int,
            *,
            limit: int | None = None,
            cursor: int | None = None,
            after: int | None = None,
            types: list[Literal['entry', 'state', 'end']] | None = None,
    ) -> SweepEventList:
        """The log of a sweep in order: the events given to its algorithm, its decisions, and its
        states. A page as JSON, or a live stream for `Accept: text/event-stream`. Requires the
        role `viewer` or a higher one. Returns a page. While `next_cursor` is not null, pass
        it as `cursor` to get the next one."""
        return self.call(
                "GET",
                f"/v1/sweeps/{quoted(id)}/events",
                query={"limit": limit, "cursor": cursor, "after": after, "types": types},
        )

    def extend_sweep(
            self,
            id: str | int,
            body: SweepExtend,
            *,
            idempotency_key: str | None = None,
    ) -> Sweep:
        """Allow more trials; a sweep that has ended continues. Requires the role `editor` or a
        higher one. Send an `Idempotency-Key` to be able to repeat the request safely."""
        return self.call(
                "POST",
                f"/v1/sweeps/{quoted(id)}/extend",
                body=body,
                idempotency_key=idempotency_key or new_key(),
        )

    def get_sweep_importance(self, id: str | int) -> SweepImportance:
        """Get the importance of each parameter: how much of the differences between trials it
        explains. Requires the role `viewer` or a higher one."""
        return self.call("GET", f"/v1/sweeps/{quoted(id)}/importance")

    def pause_sweep(self, id: str | int, *, idempotency_key: str | None = None) -> Sweep:
        """Pause a sweep: its jobs save a checkpoint and free their cores. Safe to repeat.
        Requires the role `editor` or a higher one. Send an `Idempotency-Key` to be able to
        repeat the request safely."""
        return self.call(
                "POST",
                f"/v1/sweeps/{quoted(id)}/pause",
                idempotency_key=idempotency_key or new_key(),
        )

    def promote_sweep(
            self,
            id: str | int,
            body: SweepPromote,
            *,
            dry_run: bool | None = None,
            idempotency_key: str | None = None,
    ) -> JobPreview | Job:
        """Submit a training job made from the best trial or another one, with changes, from its
        checkpoint or from scratch, and pin that checkpoint. Requires the role `editor` or a
        higher one. Send an `Idempotency-Key` to be able to repeat the request safely."""
        return self.call(
                "POST",
                f"/v1/sweeps/{quoted(id)}/promote",
                body=body,
                query={"dry_run": dry_run},
                idempotency_key=idempotency_key or new_key(),
        )

    def resume_sweep(self, id: str | int, *, idempotency_key: str | None = None) -> Sweep:
        """Continue a paused sweep and its jobs. Safe to repeat. Requires the role `editor` or a
        higher one. Send an `Idempotency-Key` to be able to repeat the request safely."""
        return self.call(
                "POST",
                f"/v1/sweeps/{quoted(id)}/resume",
                idempotency_key=idempotency_key or new_key(),
        )

    def retry_sweep(
            self,
            id: str | int,
            body: RetryFailed,
            *,
            dry_run: bool | None = None,
            idempotency_key: str | None = None,
    ) -> SweepRetry:
        """Retry all failed trials, or those that failed for certain reasons; a sweep that has
        ended continues. 409 if a limit of the sweep would end it at once, or its algorithm
        has continued without them. Safe to repeat. Requires the role `editor` or a higher
        one. Send an `Idempotency-Key` to be able to repeat the request safely."""
        return self.call(
                "POST",
                f"/v1/sweeps/{quoted(id)}/retry",
                body=body,
                query={"dry_run": dry_run},
                idempotency_key=idempotency_key or new_key(),
        )

    def simulate_sweep(
            self,
            id: str | int,
            body: SweepSimulate,
            *,
            idempotency_key: str | None = None,
    ) -> SweepSimulation:
        """Replay the recorded trials under another algorithm; trains nothing. Requires the role
        `editor` or a higher one. Send an `Idempotency-Key` to be able to repeat the request
        safely."""
        return self.call(
                "POST",
                f"/v1/sweeps/{quoted(id)}/simulate",
                body=body,
                idempotency_key=idempotency_key or new_key(),
        )

    def stop_sweep(self, id: str | int, *, idempotency_key: str | None = None) -> Sweep:
        """End a sweep: its jobs are cancelled, its trials are kept. Safe to repeat. Requires the
        role `editor` or a higher one. Send an `Idempotency-Key` to be able to repeat the
        request safely."""
        return self.call(
                "POST",
                f"/v1/sweeps/{quoted(id)}/stop",
                idempotency_key=idempotency_key or new_key(),
        )

    def suggest_sweep_trials(
            self,
            id: str | int,
            body: SweepSuggest,
            *,
            idempotency_key: str | None = None,
    ) -> SweepSuggestions:
        """Ask a sweep without a job for trials to run elsewhere; none while it waits for others.
        Requires the role `editor` or a higher one. Send an `Idempotency-Key` to be able to
        repeat the request safely."""
        return self.call(
                "POST",
                f"/v1/sweeps/{quoted(id)}/suggest",
                body=body,
                idempotency_key=idempotency_key or new_key(),
        )

    def list_sweep_trials(
            self,
            id: str | int,
            *,
            limit: int | None = None,
            cursor: str | None = None,
            state: list[Literal['running', 'paused', 'completed', 'stopped', 'failed']] | None = None,
            order_by: Literal['number', 'best', 'worst'] | None = None,
    ) -> SweepTrialList:
        """List the trials of a sweep. Requires the role `viewer` or a higher one. Returns a
        page. While `next_cursor` is not null, pass it as `cursor` to get the next one."""
        return self.call(
                "GET",
                f"/v1/sweeps/{quoted(id)}/trials",
                query={"limit": limit, "cursor": cursor, "state": state, "order_by": order_by},
        )

    def observe_sweep_trial(
            self,
            id: str | int,
            tid: str | int,
            body: SweepObserve,
            *,
            idempotency_key: str | None = None,
    ) -> SweepTrial:
        """Report a value or the end of a trial that runs elsewhere. The state in the answer says
        whether it continues. Requires the role `editor` or a higher one. Send an
        `Idempotency-Key` to be able to repeat the request safely."""
        return self.call(
                "POST",
                f"/v1/sweeps/{quoted(id)}/trials/{quoted(tid)}/observe",
                body=body,
                idempotency_key=idempotency_key or new_key(),
        )

    def retry_sweep_trial(
            self,
            id: str | int,
            tid: str | int,
            *,
            idempotency_key: str | None = None,
    ) -> SweepTrial:
        """Retry a failed trial, from its newest checkpoint. Requires the role `editor` or a
        higher one. Send an `Idempotency-Key` to be able to repeat the request safely."""
        return self.call(
                "POST",
                f"/v1/sweeps/{quoted(id)}/trials/{quoted(tid)}/retry",
                idempotency_key=idempotency_key or new_key(),
        )

    def list_tokens(self, *, limit: int | None = None, cursor: str | None = None) -> TokenList:
        """List tokens, newest first, without their secrets. Requires the role `admin`. Returns a
        page. While `next_cursor` is not null, pass it as `cursor` to get the next one."""
        return self.call("GET", "/v1/tokens", query={"limit": limit, "cursor": cursor})

    def create_token(self, body: TokenCreate) -> IssuedToken:
        """Create a token. Its secret is returned only once. Requires the role `admin`."""
        return self.call("POST", "/v1/tokens", body=body)

    def revoke_token(self, id: str | int, *, keep_made: bool | None = None) -> None:
        """Revoke a token, and the tokens that it created, with immediate effect. Safe to repeat.
        Requires the role `admin`."""
        return self.call("DELETE", f"/v1/tokens/{quoted(id)}", query={"keep_made": keep_made})

    def create_upload(self, body: UploadCreate, *, idempotency_key: str | None = None) -> Upload:
        """Start an upload; then send its bytes. Requires the role `editor` or a higher one. Send
        an `Idempotency-Key` to be able to repeat the request safely."""
        return self.call(
                "POST",
                "/v1/uploads",
                body=body,
                idempotency_key=idempotency_key or new_key(),
        )

    def delete_upload(self, id: str | int) -> None:
        """Delete an upload that no dataset was created from. Requires the role `editor` or a
        higher one."""
        return self.call("DELETE", f"/v1/uploads/{quoted(id)}")

    def get_upload(self, id: str | int) -> Upload:
        """Get the progress of an upload. HEAD returns only Upload-Offset and Upload-Length.
        Requires the role `editor` or a higher one."""
        return self.call("GET", f"/v1/uploads/{quoted(id)}")

    def complete_upload(self, id: str | int, *, idempotency_key: str | None = None) -> Upload:
        """Complete an upload after all bytes were sent; the size and the SHA-256 are verified.
        Requires the role `editor` or a higher one. Send an `Idempotency-Key` to be able to
        repeat the request safely."""
        return self.call(
                "POST",
                f"/v1/uploads/{quoted(id)}/complete",
                idempotency_key=idempotency_key or new_key(),
        )

    def get_version(self) -> Version:
        """Get the version of the service and its API. No credentials are needed."""
        return self.call("GET", "/v1/version")

    def list_webhooks(
            self,
            *,
            limit: int | None = None,
            cursor: str | None = None,
            project: str | None = None,
    ) -> WebhookList:
        """List webhooks, newest first, without their secrets. Requires the role `viewer` or a
        higher one. Returns a page. While `next_cursor` is not null, pass it as `cursor` to
        get the next one."""
        return self.call(
                "GET",
                "/v1/webhooks",
                query={"limit": limit, "cursor": cursor, "project": project},
        )

    def create_webhook(
            self,
            body: WebhookCreate,
            *,
            idempotency_key: str | None = None,
    ) -> IssuedWebhook:
        """Create a webhook: events of a project's jobs are posted to its URL. The secret that
        its messages are signed with is returned only once. Requires the role `editor` or a
        higher one. Send an `Idempotency-Key` to be able to repeat the request safely."""
        return self.call(
                "POST",
                "/v1/webhooks",
                body=body,
                idempotency_key=idempotency_key or new_key(),
        )

    def delete_webhook(self, id: str | int) -> None:
        """Delete a webhook with its deliveries; waiting deliveries are not sent. Requires the
        role `editor` or a higher one."""
        return self.call("DELETE", f"/v1/webhooks/{quoted(id)}")

    def get_webhook(self, id: str | int) -> Webhook:
        """Get a webhook, without its secret. Requires the role `viewer` or a higher one."""
        return self.call("GET", f"/v1/webhooks/{quoted(id)}")

    def patch_webhook(self, id: str | int, body: WebhookPatch) -> ChangedWebhook:
        """Change the URL, the events or the description, disable or enable it, or rotate its
        secret. Supports If-Match. Requires the role `editor` or a higher one."""
        return self.call("PATCH", f"/v1/webhooks/{quoted(id)}", body=body)

    def list_webhook_deliveries(
            self,
            id: str | int,
            *,
            limit: int | None = None,
            cursor: str | None = None,
            state: Literal['pending', 'delivered', 'failed'] | None = None,
    ) -> WebhookDeliveryList:
        """List the deliveries of a webhook, newest first. Finished ones are kept for 30 days, at
        most the newest 1,000 of a webhook. Requires the role `viewer` or a higher one.
        Returns a page. While `next_cursor` is not null, pass it as `cursor` to get the next
        one."""
        return self.call(
                "GET",
                f"/v1/webhooks/{quoted(id)}/deliveries",
                query={"limit": limit, "cursor": cursor, "state": state},
        )

    def redeliver_webhook(
            self,
            id: str | int,
            did: str | int,
            *,
            idempotency_key: str | None = None,
    ) -> WebhookDelivery:
        """Send the body of a delivery again, as a new delivery. Requires the role `editor` or a
        higher one. Send an `Idempotency-Key` to be able to repeat the request safely."""
        return self.call(
                "POST",
                f"/v1/webhooks/{quoted(id)}/deliveries/{quoted(did)}/redeliver",
                idempotency_key=idempotency_key or new_key(),
        )

    def test_webhook(self, id: str | int, *, idempotency_key: str | None = None) -> WebhookDelivery:
        """Send a message of type webhook.test. The delivery shows whether it was accepted.
        Requires the role `editor` or a higher one. Send an `Idempotency-Key` to be able to
        repeat the request safely."""
        return self.call(
                "POST",
                f"/v1/webhooks/{quoted(id)}/test",
                idempotency_key=idempotency_key or new_key(),
        )
