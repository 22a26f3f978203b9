// Wires the pages to the address: one row for each.
import { render } from "preact";
import { useEffect } from "preact/hooks";
import { connection } from "./api/shared_stream";
import { post, signed_in } from "./api/client";
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
  signed_in.value = false;
};

function Page() {
  const { path } = route.value;
  for (const { pattern, Show } of pages) {
    const found = pattern.exec(path);
    if (found) return html`<${Show} key=${path} id=${found[1]} />`;
  }
  return html`<${Unknown} />`;
}

function Header() {
  const { path } = route.value;
  const here = (section: string) => (path === section || (section !== "/" && path.startsWith(`${section}/`)) ? "page" : undefined);
  return html`<header><a class="brand" href=${href("/")}>Slipway</a>
    <nav aria-label="sections">${sections.filter(({ offered }) => !offered || offered()).map(({ path: section, name }) => html`<a key=${section} href=${href(section)} aria-current=${here(section)}>${name}</a>`)}</nav>
    ${["reconnecting", "ended"].includes(connection.value) && html`<span class="hint" role="status">not live: the page asks every few seconds</span>`}
    <a class="plain-link" href="docs/index.html">Docs</a>
    <a class="plain-link" href=${href("/keys")} aria-label="Keys and help">?</a>
    <button class="plain" onClick=${sign_out}>Sign out</button></header>`;
}

function App() {
  useEffect(listen_for_keys, []);
  useEffect(() => {
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
