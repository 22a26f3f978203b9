// How far an upload is, and stopping it.
import { bytes, duration } from "../format";
import { html } from "../html";
import { ErrorNote } from "../parts/error_note";
import type { RunningUpload, UploadState } from "./upload";

const words: Record<UploadState["phase"], string> = {
  sending: "sending",
  waiting: "The connection was lost. The upload continues automatically from where it stopped.",
  checking: "the service checks the file",
  complete: "has arrived",
  stopped: "Stopped. The part that has arrived is kept for a day: choose the same files to continue.",
};

export function UploadProgress({ upload, size }: { upload: RunningUpload; size: number }) {
  const { phase, sent, bytes_per_s, error } = upload.state.value;
  const left = phase === "sending" && bytes_per_s > 0 ? `, ${bytes(Math.round(bytes_per_s))}/s, ${duration((size - sent) / bytes_per_s)} left` : "";
  const told = `${bytes(sent)} of ${bytes(size)}${left}`;
  return html`<div class="card" role="group" aria-label="upload">
    <p><span class="progress"><progress max="1" value=${size === 0 ? 1 : sent / size} aria-label=${`upload: ${told}`}></progress> <span>${told}</span></span></p>
    <p role="status">${words[phase]}</p>
    <${ErrorNote} error=${error} />
    ${["sending", "waiting"].includes(phase) && html`<button onClick=${upload.stop}>Stop</button>`}
  </div>`;
}
