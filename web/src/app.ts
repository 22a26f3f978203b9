// Wires the pages to the address: #/ is the list of jobs, #/jobs/{id} one job, #/sweeps and #/sweeps/{id},
// #/cross-validations and #/cross-validations/{id} likewise.
import { signal } from "@preact/signals";
import { render } from "preact";
import { signed_in, post } from "./api/client";
import { html } from "./html";
import { CrossValidation } from "./pages/cross_validation";
import { CrossValidations } from "./pages/cross_validations";
import { Job } from "./pages/job";
import { Jobs } from "./pages/jobs";
import { SignIn } from "./pages/sign_in";
import { Sweep } from "./pages/sweep";
import { Sweeps } from "./pages/sweeps";

const address = signal(location.hash);
addEventListener("hashchange", () => (address.value = location.hash));

const sign_out = async () => {
  await post("/v1/logout").catch(() => undefined);
  signed_in.value = false;
};

// A list, and a page of one by its id.
const pages = [
  { list: "jobs", id: "job", List: Jobs, One: Job },
  { list: "sweeps", id: "swp", List: Sweeps, One: Sweep },
  { list: "cross-validations", id: "cv", List: CrossValidations, One: CrossValidation },
];

function Page() {
  for (const { list, id, List, One } of pages) {
    const one = new RegExp(`^#/${list}/(${id}_[0-9a-z]+)$`).exec(address.value);
    if (one) return html`<${One} key=${one[1]} id=${one[1]} />`;
    if (address.value === `#/${list}`) return html`<${List} />`;
  }
  return html`<${Jobs} />`;
}

function App() {
  if (!signed_in.value) return html`<${SignIn} />`;
  return html`<header><a class="brand" href="#/">Slipway</a>
      <nav><a href="#/">Jobs</a> <a href="#/sweeps">Sweeps</a> <a href="#/cross-validations">Cross-validations</a></nav>
      <button class="plain" onClick=${sign_out}>Sign out</button></header>
    <${Page} />`;
}

const root = document.getElementById("app")!;
root.replaceChildren();
render(html`<${App} />`, root);
