// Wires the pages to the address: #/ is the list, #/jobs/{id} one job, #/cross-validations and
// #/cross-validations/{id} likewise.
import { signal } from "@preact/signals";
import { render } from "preact";
import { signed_in, post } from "./api/client";
import { html } from "./html";
import { CrossValidation } from "./pages/cross_validation";
import { CrossValidations } from "./pages/cross_validations";
import { Job } from "./pages/job";
import { Jobs } from "./pages/jobs";
import { SignIn } from "./pages/sign_in";

const address = signal(location.hash);
addEventListener("hashchange", () => (address.value = location.hash));

const sign_out = async () => {
  await post("/v1/logout").catch(() => undefined);
  signed_in.value = false;
};

function Page() {
  const job = /^#\/jobs\/(job_[0-9a-z]+)$/.exec(address.value);
  if (job) return html`<${Job} key=${job[1]} id=${job[1]} />`;
  const crossed = /^#\/cross-validations\/(cv_[0-9a-z]+)$/.exec(address.value);
  if (crossed) return html`<${CrossValidation} key=${crossed[1]} id=${crossed[1]} />`;
  return address.value === "#/cross-validations" ? html`<${CrossValidations} />` : html`<${Jobs} />`;
}

function App() {
  if (!signed_in.value) return html`<${SignIn} />`;
  return html`<header><a class="brand" href="#/">Slipway</a> <a href="#/cross-validations">Cross-validations</a> <button class="plain" onClick=${sign_out}>Sign out</button></header>
    <${Page} />`;
}

const root = document.getElementById("app")!;
root.replaceChildren();
render(html`<${App} />`, root);
