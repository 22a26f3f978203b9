// Sends a file to the service in parts, and goes on after whatever stopped it.
//
// The service alone knows how much has arrived: after each failure it is asked, and the next part begins there. What is out of its hands (a cut
// connection, a service that starts again) is tried again until somebody stops it; what it refuses ends the upload with its words. The
// upload's id is kept in the browser under the files' key, so that the same files go on after the page was closed.
import { signal, type Signal } from "@preact/signals";
import { base } from "../api/base";
import { ApiError, get, post, send_part } from "../api/client";
import type { Upload } from "../api/schema";
import type { Chosen } from "./chosen";

export interface UploadState {
  phase: "sending" | "waiting" | "checking" | "complete" | "stopped";
  sent: number;
  bytes_per_s: number;
  error?: unknown; // why it waits or has stopped
  upload?: Upload;
}

export interface RunningUpload {
  state: Signal<UploadState>;
  stop: () => void;
}

const part_bytes = 4 << 20;
const first_pause_ms = 1000;
const pause_ms_max = 15000;
const tried_again = [0, 408, 409, 423, 429, 500, 502, 503, 504]; // 409: another part is still being written, or has arrived
const store_key = `slipway uploads ${base}`;

type Known = Record<string, { id: string; expires_at: string }>;

// Without storage (some private windows) an upload goes on only while its page is open.
function known_uploads(): Known {
  try {
    const all: Known = JSON.parse(localStorage.getItem(store_key) ?? "{}");
    return Object.fromEntries(Object.entries(all).filter(([, { expires_at }]) => Date.parse(expires_at) > Date.now()));
  } catch {
    return {};
  }
}

function keep(change: (known: Known) => void) {
  const known = known_uploads();
  change(known);
  try {
    localStorage.setItem(store_key, JSON.stringify(known));
  } catch {
    return;
  }
}

const path_of = (upload: Upload) => `/v1/uploads/${upload.id}`;

/** The upload of these files, if it was begun and still is; else a new one. */
async function begun({ key, filename, bytes }: Chosen): Promise<Upload> {
  const before = known_uploads()[key];
  const found = before && (await get<Upload>(`/v1/uploads/${before.id}`).catch((problem) => {
    if (problem instanceof ApiError && problem.problem.status === 404) return undefined;
    throw problem;
  }));
  if (found && found.size === bytes.size) return found;
  const made = await post<Upload>("/v1/uploads", { filename, size: bytes.size });
  keep((known) => (known[key] = { id: made.id, expires_at: made.expires_at }));
  return made;
}

export const forget = (key: string) => keep((known) => delete known[key]);

export function start_upload(chosen: Chosen): RunningUpload {
  const state = signal<UploadState>({ phase: "sending", sent: 0, bytes_per_s: 0 });
  const stopped = new AbortController();
  const tell = (change: Partial<UploadState>) => (state.value = { ...state.value, ...change });
  let pause_ms = first_pause_ms;

  const send = async (from: Upload) => {
    let offset = from.received;
    const began = { at: performance.now(), offset };
    tell({ upload: from, sent: offset, phase: "sending", error: undefined });
    while (!from.complete && offset < from.size) {
      offset = await send_part(path_of(from), offset, chosen.bytes.slice(offset, offset + part_bytes), stopped.signal);
      pause_ms = first_pause_ms;
      tell({ sent: offset, bytes_per_s: (1000 * (offset - began.offset)) / Math.max(1, performance.now() - began.at) });
    }
    tell({ phase: "checking" });
    const complete = from.complete ? from : await post<Upload>(`${path_of(from)}/complete`);
    tell({ phase: "complete", upload: complete });
  };
  const pause = () => new Promise<void>((done) => {
    const timer = window.setTimeout(done, pause_ms);
    stopped.signal.addEventListener("abort", () => (clearTimeout(timer), done()));
    pause_ms = Math.min(2 * pause_ms, pause_ms_max);
  });
  const run = async () => {
    while (!stopped.signal.aborted) {
      try {
        return await send(await begun(chosen));
      } catch (error) {
        if (stopped.signal.aborted) break;
        if (!(error instanceof ApiError) || !tried_again.includes(error.problem.status)) return tell({ phase: "stopped", error });
        tell({ phase: "waiting", error });
        await pause();
      }
    }
    tell({ phase: "stopped", error: undefined });
  };
  void run();
  return { state, stop: () => stopped.abort() };
}
