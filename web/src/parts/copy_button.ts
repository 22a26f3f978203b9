// Copies a text. Without the right to (plain http from another machine) the text is selected, to be copied by hand.
import { useState } from "preact/hooks";
import { html } from "../html";

function select(id: string) {
  const element = document.getElementById(id);
  if (element) getSelection()?.selectAllChildren(element);
}

/** `of`: the id of the element that shows the text. */
export function CopyButton({ text, of }: { text: string; of: string }) {
  const [said, set_said] = useState("Copy");
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      set_said("Copied");
    } catch {
      select(of);
      set_said("Selected: press Ctrl+C");
    }
  };
  return html`<button type="button" onClick=${copy}>${said}</button>`;
}
