// Wires the pages to the address: one row for each.
import { render } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { connection } from "./api/shared_stream";
import { post, session_ended, signed_in } from "./api/client";
import { me, read_me } from "./api/me";
import { html } from "./html";
import { listen_for_keys } from "./keys";
import { pages, sections } from "./pages";
import { href, route } from "./route";
import { keep_scroll } from "./scroll";
import { SignIn } from "./pages/sign_in";
import { Unknown } from "./pages/unknown";

const sign_out = async () => {
  await post("/v1/logout").catch(() => undefined);
  session_ended.value = false;
  signed_in.value = false;
};

/** Keys begin at the content of the page: after its head, and after a way to another page. */
function focus_content() {
  const content = document.querySelector("main");
  if (!content) return;
  content.tabIndex = -1;
  content.focus({ preventScroll: true });
}

function Page() {
  const { path } = route.value;
  const opened = useRef(path);
  useEffect(() => {
    if (opened.current !== path) focus_content();
    opened.current = path;
  }, [path]);
  for (const { pattern, Show } of pages) {
    const found = pattern.exec(path);
    if (found) return html`<${Show} key=${path} id=${found[1]} />`;
  }
  return html`<${Unknown} />`;
}

function Header() {
  const { path } = route.value;
  const list = useRef<HTMLElement>(null);
  useEffect(() => {
    // On a phone the list is one line: where one is, is in sight.
    const current = list.current?.querySelector<HTMLElement>("[aria-current]");
    if (current) list.current!.scrollLeft = current.offsetLeft + current.offsetWidth / 2 - list.current!.offsetLeft - list.current!.clientWidth / 2;
  });
  const at = ["/compare", "/submit"].includes(path) ? "/jobs" : path; // these are reached from the list of jobs
  const here = (section: string) => (at === section || (section !== "/" && at.startsWith(`${section}/`)) ? "page" : undefined);
  return html`<header><button class="skip" onClick=${focus_content}>Skip to the content</button><a class="brand" href=${href("/")}>Slipway</a>
    <nav ref=${list} aria-label="sections">${sections.filter(({ offered }) => !offered || offered()).map(({ path: section, name }) => html`<a key=${section} href=${href(section)} aria-current=${here(section)}>${name}</a>`)}</nav>
    ${["reconnecting", "ended"].includes(connection.value) && html`<span class="hint" role="status">not live: the page asks every few seconds</span>`}
    <a class="plain-link" href="docs/index.html">Docs</a>
    <a class="plain-link" href=${href("/keys")} aria-label="Keys and help">?</a>
    <button class="plain" onClick=${sign_out}>Sign out</button></header>`;
}

function App() {
  useEffect(listen_for_keys, []);
  useLayoutEffect(() => { // with the first requests of the page: its answer changes what the page offers, and one frame shows both
    if (signed_in.value) void read_me();
    else me.value = undefined;
  }, [signed_in.value]);
  if (!signed_in.value) return html`<${SignIn} />`;
  return html`<${Header} /><${Page} />`;
}

keep_scroll();
const root = document.getElementById("app")!;
root.replaceChildren();
render(html`<${App} />`, root);
