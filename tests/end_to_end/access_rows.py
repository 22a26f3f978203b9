"""Who asks in test_access_matrix, and what each must get of every endpoint: written apart from the code that decides."""

# The project of what is asked for, and another. Nobody else says these words, so an answer that has one is a leak.
PROJECT, OTHER = "kestrel", "heron"
CALLERS = {
    "nobody": "no credentials",
    "garbage": "text that is no token",
    "unknown": "a well-formed token of nobody",
    "expired": "an admin's token that has expired",
    "revoked": "an admin's token that was revoked",
    "other": "the admin of another project",
    "viewer": "viewer of the project",
    "editor": "editor of the project",
    "project_admin": "admin of the project",
    "cookie": "the same by a browser's cookie, without the headers of our own pages",
    "member_viewer": "an admin's token of a member who is viewer of the project and admin of the other one",
    "member_editor": "an admin's token of a member who is editor of the project",
    "member_admin": "an admin's token of a member who is admin of the project",
    "member_limited": "a viewer's token of the same member",
    "lost": "an admin's token of a member who was admin of the project and no longer has a role",
    "admin": "admin of all projects",
}
UNAUTHENTICATED = ("nobody", "garbage", "unknown", "expired", "revoked")
RANK = {"viewer": 0, "editor": 1, "admin": 2}
# The highest role in any project, and the role in PROJECT where that is another one.
ROLE = {"other": "admin", "viewer": "viewer", "editor": "editor", "project_admin": "admin", "cookie": "admin", "admin": "admin",
        "member_viewer": "admin", "member_editor": "editor", "member_admin": "admin", "member_limited": "viewer"}
ROLE_IN_PROJECT = {**ROLE, "member_viewer": "viewer"}


class Row:
    """What an endpoint is about decides who gets what:
    open     everybody gets the same
    object   the path names an object of the project: for others it does not exist
    list     shows what the caller sees
    create   the body names the project: others are refused
    upload   an object of the token that made it, and of admins of all projects
    own      about the caller
    login, link, logout  open, and about the credentials that come with them
    machine  the same for every token
    service  a change of the machine: not for tokens that are bound to projects
    """

    def __init__(self, role, about, ok=None, body=None, headers=None, fresh=False):
        self.role, self.about, self.ok, self.body, self.headers, self.fresh = role, about, ok, body, headers, fresh


VIEW, EDIT, ADMIN, OPEN = "viewer", "editor", "admin", None
ENDPOINTS = {
    "create_job": Row(EDIT, "create", body=lambda made: made["job_spec"]),
    "list_jobs": Row(VIEW, "list"),
    "get_job": Row(VIEW, "object"),
    "patch_job": Row(EDIT, "object", body=lambda made: {"labels": {"seen": "yes"}}),
    "delete_job": Row(EDIT, "object", fresh="job"),
    "cancel_job": Row(EDIT, "object", ok=409),      # it has ended
    "kill_job": Row(EDIT, "object", ok=409),
    "pause_job": Row(EDIT, "object", ok=409),
    "resume_job": Row(EDIT, "object", ok=409),
    "checkpoint_job": Row(EDIT, "object", ok=409),
    "retry_job": Row(EDIT, "object", ok=409),       # it has succeeded
    "fork_job": Row(EDIT, "object", body=lambda made: {"start": "scratch"}),
    "bulk_jobs": Row(EDIT, "list", body=lambda made: {"action": "pause", "filter": {"ids": [made["job"]]}}),
    "list_job_events": Row(VIEW, "object"),
    "stream_events": Row(VIEW, "list"),
    "list_job_logs": Row(VIEW, "object"),
    "list_job_metrics": Row(VIEW, "object"),
    "list_metrics": Row(VIEW, "own", ok=422),       # it names no job
    "get_job_metrics_csv": Row(VIEW, "object"),
    "get_job_tensorboard": Row(VIEW, "object"),
    "list_job_checkpoints": Row(VIEW, "object"),
    "list_job_attempts": Row(VIEW, "object"),
    "explain_job": Row(VIEW, "object"),
    "get_job_spec": Row(VIEW, "object"),
    "get_job_report": Row(VIEW, "object"),
    "get_job_evaluation": Row(VIEW, "object"),
    "list_job_graphs": Row(VIEW, "object"),
    "get_job_graph": Row(VIEW, "object"),
    "get_job_trace": Row(VIEW, "object"),
    "list_checkpoints": Row(VIEW, "list"),
    "get_checkpoint": Row(VIEW, "object"),
    "delete_checkpoint": Row(EDIT, "object", ok=409, fresh="pinned"),
    "pin_checkpoint": Row(EDIT, "object"),
    "unpin_checkpoint": Row(EDIT, "object"),
    "get_checkpoint_file": Row(VIEW, "object"),
    "get_checkpoint_weights": Row(VIEW, "object"),
    "create_prediction": Row(EDIT, "create", body=lambda made: made["prediction_spec"]),
    "list_predictions": Row(VIEW, "list"),
    "get_prediction": Row(VIEW, "object"),
    "get_prediction_result": Row(VIEW, "object"),
    "create_evaluation": Row(EDIT, "create", body=lambda made: made["evaluation_spec"]),
    "list_evaluations": Row(VIEW, "list"),
    "get_evaluation": Row(VIEW, "object"),
    "create_cross_validation": Row(EDIT, "create", body=lambda made: made["cross_validation_spec"]),
    "list_cross_validations": Row(VIEW, "list"),
    "get_cross_validation": Row(VIEW, "object"),
    "delete_cross_validation": Row(EDIT, "object", fresh="cross_validation"),
    "cancel_cross_validation": Row(EDIT, "object", ok=409),     # it has succeeded
    "retry_cross_validation": Row(EDIT, "object", body=lambda made: {}),    # nothing of it has failed
    "list_cross_validation_folds": Row(VIEW, "object"),
    "get_cross_validation_summary": Row(VIEW, "object"),
    "list_cross_validation_events": Row(VIEW, "object"),
    "compare_cross_validations": Row(VIEW, "object", ok=422),      # it names no other
    "get_cross_validation_oof": Row(VIEW, "object"),
    "create_dataset": Row(EDIT, "create", fresh="name", body=lambda made: {
        "name": made["name"], "project": PROJECT, "format": "csv", "source": {"path": "points"}}),
    "list_datasets": Row(VIEW, "list"),
    "get_dataset": Row(VIEW, "object"),
    "delete_dataset": Row(EDIT, "object", fresh="dataset"),
    "get_dataset_preview": Row(VIEW, "object"),
    "create_split": Row(EDIT, "object", body=lambda made: {"method": "fraction", "val_fraction": 0.25, "seed": 5}),
    "list_splits": Row(VIEW, "object"),
    "get_split": Row(VIEW, "object"),
    "get_split_manifest": Row(VIEW, "object"),
    "delete_split": Row(EDIT, "object", fresh="split"),
    "create_upload": Row(EDIT, "own", body=lambda made: {"size": 4, "filename": "own.csv"}),
    "get_upload": Row(EDIT, "upload"),
    "append_upload": Row(EDIT, "upload", fresh="upload", body=lambda made: b"more", headers={
        "Upload-Offset": "0", "Content-Type": "application/octet-stream"}),
    "complete_upload": Row(EDIT, "upload", fresh="full_upload"),
    "delete_upload": Row(EDIT, "upload", fresh="upload"),
    "list_hosts": Row(VIEW, "machine"),
    "list_slices": Row(VIEW, "machine"),
    "list_cores": Row(VIEW, "machine"),
    "get_core": Row(VIEW, "machine"),
    "get_host": Row(VIEW, "machine"),
    "drain_host": Row(ADMIN, "service", body=lambda made: {"reason": "a disk"}),
    "undrain_host": Row(ADMIN, "service"),
    "delete_host": Row(ADMIN, "service", ok=409, fresh="alive_host"),
    "create_join_token": Row(ADMIN, "service", ok=201, body=lambda made: {}),
    "drain_core": Row(ADMIN, "service"),
    "undrain_core": Row(ADMIN, "service"),
    "list_queue": Row(VIEW, "list"),
    "get_queue_stats": Row(VIEW, "list"),
    "list_decisions": Row(VIEW, "list"),
    "simulate_queue": Row(EDIT, "list", body=lambda made: {"more_hosts": 1}),
    "create_project": Row(ADMIN, "service", ok=201, fresh="name", body=lambda made: {"name": made["name"]}),
    "list_projects": Row(VIEW, "list"),
    "get_project": Row(VIEW, "object"),
    "patch_project": Row(ADMIN, "service", body=lambda made: {"weight": 1}),
    "get_project_quota": Row(VIEW, "object"),
    "put_project_quota": Row(ADMIN, "service", body=lambda made: {}),
    "list_members": Row(VIEW, "object"),
    "get_member": Row(VIEW, "object", fresh="member"),
    "put_member": Row(ADMIN, "object", body=lambda made: {"role": "viewer"}),
    "delete_member": Row(ADMIN, "object", fresh="member"),
    "list_groups": Row(VIEW, "object"),
    "put_group": Row(EDIT, "object", body=lambda made: {"limit": 2}),
    "create_sweep": Row(EDIT, "create", body=lambda made: made["sweep_spec"]),
    "list_sweeps": Row(VIEW, "list"),
    "get_sweep": Row(VIEW, "object"),
    "patch_sweep": Row(EDIT, "object", body=lambda made: {"max_concurrent": 1}),
    "delete_sweep": Row(EDIT, "object", fresh="sweep"),
    "pause_sweep": Row(EDIT, "object", fresh="running_sweep"),
    "resume_sweep": Row(EDIT, "object", fresh="running_sweep"),
    "stop_sweep": Row(EDIT, "object"),
    "extend_sweep": Row(EDIT, "object", fresh="sweep", body=lambda made: {"max_trials": 2}),
    "promote_sweep": Row(EDIT, "object", body=lambda made: {"start": "scratch"}),
    "list_sweep_trials": Row(VIEW, "object"),
    "get_sweep_best": Row(VIEW, "object"),
    "list_sweep_decisions": Row(VIEW, "object"),
    "list_sweep_events": Row(VIEW, "object"),
    "suggest_sweep_trials": Row(EDIT, "object", fresh="external_sweep", body=lambda made: {}),
    "observe_sweep_trial": Row(EDIT, "object", fresh="external_sweep", body=lambda made: {"time": 1, "value": 0.5}),
    "get_sweep_importance": Row(VIEW, "object"),
    "simulate_sweep": Row(EDIT, "object", body=lambda made: {"algorithm": {"name": "median_stop"}}),
    "retry_sweep": Row(EDIT, "object", fresh="failed_sweep", body=lambda made: {}),
    "retry_sweep_trial": Row(EDIT, "object", fresh="failed_sweep"),
    "create_webhook": Row(EDIT, "create", body=lambda made: {"url": "https://hooks.example.com/", "project": PROJECT}),
    "list_webhooks": Row(VIEW, "list"),
    "get_webhook": Row(VIEW, "object"),
    "patch_webhook": Row(EDIT, "object", body=lambda made: {"events": ["job.ended"]}),
    "delete_webhook": Row(EDIT, "object", fresh="webhook"),
    "test_webhook": Row(EDIT, "object", ok=201),
    "list_webhook_deliveries": Row(VIEW, "object"),
    "redeliver_webhook": Row(EDIT, "object", ok=201),
    "list_audit": Row(ADMIN, "service"),
    "preview_retention": Row(ADMIN, "service"),
    "get_me": Row(VIEW, "own"),
    "create_token": Row(ADMIN, "create", ok=201, body=lambda made: {
        "name": "guest", "role": "viewer", "projects": [PROJECT]}),
    "list_tokens": Row(ADMIN, "list"),
    "revoke_token": Row(ADMIN, "object", fresh="token"),
    "create_login_link": Row(VIEW, "own"),
    "login": Row(OPEN, "login"),
    "login_by_link": Row(OPEN, "link"),
    "logout": Row(OPEN, "logout", ok=204),
    "healthz": Row(OPEN, "open"),
    "readyz": Row(OPEN, "open"),
    "metrics": Row(VIEW, "machine"),
    "get_version": Row(OPEN, "open"),
    "get_capabilities": Row(OPEN, "open"),
    "get_openapi": Row(OPEN, "open"),
}

# Other addresses of the above, which the document does not list.
ALIASES = {"/v1/healthz": "healthz", "/v1/readyz": "readyz", "/v1/openapi.json": "get_openapi",
           "/version": "get_version", "/capabilities": "get_capabilities"}


def required_status(row, method, caller, ok):
    """What `caller` must get, from the row alone."""
    if row.about == "login":
        return 401 if caller in UNAUTHENTICATED else ok
    if row.about == "link":
        return 204 if method == "HEAD" else 401    # without a ticket; HEAD does not use one
    if row.about == "logout":
        return 403 if caller == "cookie" else ok
    if row.about == "open":
        return ok
    if caller in UNAUTHENTICATED:
        return 401
    if caller == "cookie" and method not in ("GET", "HEAD"):
        return 403
    if caller == "lost":
        return ok if row.name == "get_me" else 403
    if RANK[ROLE[caller]] < RANK[row.role]:
        return 403
    if row.about == "service" and caller != "admin":
        return 403
    if row.about == "upload" and caller not in ("editor", "admin"):
        return 404
    if caller == "other" and row.about in ("object", "create"):
        return 404 if row.about == "object" else {"create_token": 422}.get(row.name, 403)
    # The path or the body names an object of the project.
    if (row.about in ("object", "create") or row.name == "bulk_jobs") and RANK[ROLE_IN_PROJECT[caller]] < RANK[row.role]:
        return {"create_token": 422, "revoke_token": 404}.get(row.name, 403)    # only admins of a project know its tokens
    return ok
