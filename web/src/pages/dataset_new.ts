// A new dataset: files of one's own are sent, or a folder of the service is named; then it is said how to read them.
import { useEffect, useState } from "preact/hooks";
import { get, post } from "../api/client";
import { me } from "../api/me";
import type { Capabilities, Dataset } from "../api/schema";
import { bytes, number } from "../format";
import { html } from "../html";
import { go, href, route } from "../route";
import { use_title } from "../title";
import { Curls, type Request } from "../parts/curl";
import { ErrorNote } from "../parts/error_note";
import { problems_of } from "../schema_form/problems";
import { Members, Node, type FormContext } from "../schema_form/node";
import type { Fields, Schema } from "../schema_form/schema";
import { chosen_of, dataset_name_of, format_of, type Chosen } from "../upload/chosen";
import { forget, start_upload, type RunningUpload } from "../upload/upload";
import { UploadProgress } from "../upload/upload_progress";

const path = "/v1/datasets";
const files_of = (event: Event) => [...((event.target as HTMLInputElement).files ?? [])];

interface Sending {
  chosen: Chosen;
  upload: RunningUpload;
}

function Chooser({ choose }: { choose: (files: File[]) => void }) {
  const drop = (event: DragEvent) => {
    event.preventDefault();
    choose([...(event.dataTransfer?.files ?? [])]);
  };
  return html`<div class="card drop" role="group" aria-label="files" onDragOver=${(event: Event) => event.preventDefault()} onDrop=${drop}>
    <label>Files, or one archive (zip, tar) <input type="file" multiple onChange=${(event: Event) => choose(files_of(event))} /></label>
    <label>A folder <input type="file" webkitdirectory onChange=${(event: Event) => choose(files_of(event))} /></label>
    <p class="hint">Files can be dropped here. They are uploaded at once; after a lost connection the upload continues where it stopped.</p></div>`;
}

const describe = ({ files, bytes: content, packed }: Chosen) =>
  `${number(files.length)} ${files.length === 1 ? "file" : "files"}, ${bytes(content.size)}${packed ? ", sent as one archive" : ""}`;

/** Shards in an archive that is made here would be read as one shard. */
const is_wrongly_packed = (sending: Sending | undefined, format: string) => format === "webdataset" && Boolean(sending?.chosen.packed);

function upload_requests({ filename, bytes: content }: Chosen, id: string): Request[] {
  return [
    { label: "Begin an upload", method: "POST", path: "/v1/uploads", body: { filename, size: content.size } },
    { label: "How much has arrived", method: "GET", path: `/v1/uploads/${id}` },
    { label: "Send the bytes from there on", method: "PATCH", path: `/v1/uploads/${id}`, file: filename, headers: { "Content-Type": "application/octet-stream", "Upload-Offset": "0" } },
    { label: "Say that all has been sent", method: "POST", path: `/v1/uploads/${id}/complete` },
  ];
}

export function DatasetNew() {
  use_title("Add a dataset");
  const [formats, set_formats] = useState<{ name: string; options: Schema }[]>([]);
  const [definitions, set_definitions] = useState({});
  const [sending, set_sending] = useState<Sending>();
  const [body, set_body] = useState<Fields>({ name: "", format: "" });
  const [source_path, set_source_path] = useState("");
  const [error, set_error] = useState<unknown>();
  useEffect(() => {
    get<Capabilities>("/v1/capabilities").then(({ formats: known, $defs }) => {
      set_formats(known as { name: string; options: Schema }[]);
      set_definitions($defs);
    }, set_error);
  }, []);
  // A dataset whose check failed: the same but for what is to be changed. What was uploaded for it is gone.
  const again = route.value.query.get("again");
  const [source_before, set_source_before] = useState("");
  useEffect(() => {
    if (!again) return;
    get<Dataset>(`${path}/${again}`).then(({ name, project, format, options: read, source: before }) => {
      set_body({ name, format, options: read, ...(project === "default" ? {} : { project }) });
      if ("path" in before) set_source_path(before.path);
      else set_source_before(before.filename ?? "");
    }, set_error);
  }, [again]);
  useEffect(() => () => sending?.upload.stop(), [sending]);

  const choose = (files: File[]) => {
    const chosen = chosen_of(files);
    if (!chosen) return set_error(new Error("There is no file in it that can be uploaded."));
    set_error(undefined);
    sending?.upload.stop();
    set_sending({ chosen, upload: start_upload(chosen) });
    set_body({ ...body, name: body.name || dataset_name_of(chosen.filename), format: body.format || format_of(chosen.files) });
  };
  const { phase, upload } = sending?.upload.state.value ?? { phase: undefined, upload: undefined };
  const source = sending ? { upload: upload?.id ?? "upl_…" } : { path: source_path };
  const request = { ...body, source };
  const options = formats.find(({ name }) => name === body.format)?.options;
  const form: FormContext = { id: "dataset", definitions, problems: problems_of(error) };
  const create = (event: Event) => {
    event.preventDefault();
    post<Dataset>(path, request).then((made) => {
      if (sending) forget(sending.chosen.key);
      go(`/datasets/${made.id}`);
    }, set_error);
  };
  const set = (name: string) => (value: unknown) => set_body({ ...body, [name]: value ?? "" });
  const projects = me.value?.projects ?? [];
  const field = (name: string, schema: Schema, required = true) =>
    html`<${Node} form=${form} schema=${schema} value=${body[name] || undefined} set=${set(name)} pointer=${`/${name}`} name=${name} required=${required} />`;
  const waits = sending !== undefined && phase !== "complete";
  return html`<main>
    <nav aria-label="breadcrumb"><a href=${href("/datasets")}>Datasets</a></nav>
    <h1>Add a dataset</h1>
    <section><h2>Files</h2>
      ${source_before && !sending && html`<p>Choose ${source_before} again.</p>`}
      <${Chooser} choose=${choose} />
      ${sending && html`<p>${sending.chosen.filename}: ${describe(sending.chosen)}</p><${UploadProgress} upload=${sending.upload} size=${sending.chosen.bytes.size} />`}
      ${!sending && html`<form class="schema-form" aria-label="folder of the service" onSubmit=${create}><div class="field"><label for="source-path">or a folder of the service</label>
        <input id="source-path" type="text" value=${source_path} placeholder="below a dataset root" onInput=${(event: Event) => set_source_path((event.target as HTMLInputElement).value)} /></div></form>`}
    </section>
    <section><h2>How to read them</h2>
      <form class="schema-form" aria-label="dataset" onSubmit=${create}>
        ${field("name", { type: "string", description: "Name to use in jobs; unique within the project." })}
        ${field("project", { type: "string", default: projects.length === 1 ? projects[0] : "default", description: "Project that the dataset belongs to." }, false)}
        ${field("format", { enum: formats.map(({ name }) => name), description: "File format." })}
        ${options && html`<fieldset><legend>options</legend><${Members} key=${body.format} form=${form} schema=${options} value=${body.options} required=${false}
          set=${(value: unknown) => set_body({ ...body, options: value })} pointer="/options" name="options" /></fieldset>`}
        ${is_wrongly_packed(sending, String(body.format)) && html`<p class="error">Shards of a webdataset cannot be uploaded as separate files: put them into one zip file, and choose that.</p>`}
        <${ErrorNote} error=${error} />
        <button type="submit" disabled=${waits || is_wrongly_packed(sending, String(body.format)) || !body.name || !body.format || (!sending && !source_path)}>Create the dataset</button>
        ${waits && html`<span class="hint"> when the files have arrived</span>`}
      </form></section>
    <${Curls} requests=${[...(sending ? upload_requests(sending.chosen, upload?.id ?? "upl_…") : []),
      { label: "Create the dataset", method: "POST", path, body: request }]} />
  </main>`;
}
