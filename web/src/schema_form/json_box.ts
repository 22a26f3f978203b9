// The value of a form as JSON, to read, copy or write: what is written is taken over as soon as it is JSON.
import { useEffect, useState } from "preact/hooks";
import { html } from "../html";

const written = (value: unknown) => JSON.stringify(value, null, 2);

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function JsonBox({ label, value, set }: { label: string; value: unknown; set: (value: unknown) => void }) {
  const [text, set_text] = useState(written(value));
  const [wrong, set_wrong] = useState("");
  useEffect(() => {
    if (JSON.stringify(parsed(text)) === JSON.stringify(value)) return;
    set_text(written(value));
    set_wrong("");
  }, [value]);
  const typed = (event: Event) => {
    const next = (event.target as HTMLTextAreaElement).value;
    set_text(next);
    try {
      set(JSON.parse(next));
      set_wrong("");
    } catch (problem) {
      set_wrong((problem as Error).message);
    }
  };
  return html`<div class="json-box"><textarea aria-label=${label} spellcheck=${false} value=${text} rows=${Math.min(40, text.split("\n").length + 1)} onInput=${typed}
      aria-invalid=${wrong ? "true" : undefined}></textarea>
    ${wrong && html`<p class="error" role="status">Not JSON yet: ${wrong}. The form has the last value that was.</p>`}</div>`;
}
