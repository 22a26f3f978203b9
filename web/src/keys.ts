// Keys that work on every page: "g" and a letter goes to a section, "/" to the first field that searches, "?" to the page of keys.
import { sections } from "./pages";
import { go } from "./route";

const patience_ms = 1500; // between "g" and the letter

function types_text(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.matches("input, select, textarea") || target.isContentEditable);
}

/** Returns what ends it. */
export function listen_for_keys(): () => void {
  let pressed_g = 0;
  const on_key = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || types_text(event.target)) return;
    const section = sections.find(({ key }) => key === event.key);
    if (section && performance.now() - pressed_g < patience_ms && pressed_g > 0) go(section.path);
    else if (event.key === "?") go("/keys");
    else if (event.key === "/") {
      document.querySelector<HTMLInputElement>("main input[type=search]")?.focus();
      event.preventDefault();
    }
    pressed_g = event.key === "g" ? performance.now() : 0;
  };
  addEventListener("keydown", on_key);
  return () => removeEventListener("keydown", on_key);
}
