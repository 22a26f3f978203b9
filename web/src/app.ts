// Wires the pages to the address: #/ is the list, #/jobs/{id} one job.
import { signal } from "@preact/signals";
import { render } from "preact";
import { signed_in, post } from "./api/client";
import { html } from "./html";
import { Job } from "./pages/job";
import { Jobs } from "./pages/jobs";
import { SignIn } from "./pages/sign_in";

const address = signal(location.hash);
addEventListener("hashchange", () => (address.value = location.hash));

const sign_out = async () => {
  await post("/v1/logout").catch(() => undefined);
  signed_in.value = false;
};

function App() {
  if (!signed_in.value) return html`<${SignIn} />`;
  const job = /^#\/jobs\/(job_[0-9a-z]+)$/.exec(address.value);
  return html`<header><a class="brand" href="#/">Slipway</a> <button class="plain" onClick=${sign_out}>Sign out</button></header>
    ${job ? html`<${Job} key=${job[1]} id=${job[1]} />` : html`<${Jobs} />`}`;
}

const root = document.getElementById("app")!;
root.replaceChildren();
render(html`<${App} />`, root);
