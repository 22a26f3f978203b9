import { useState } from "preact/hooks";
import { post, session_ended, signed_in } from "../api/client";
import { html } from "../html";
import { use_title } from "../title";
import { ErrorNote } from "../parts/error_note";

/** Shown when no cookie is valid: exchanges a token for one. */
export function SignIn() {
  use_title("Sign in");
  const [token, set_token] = useState("");
  const [error, set_error] = useState<unknown>();
  const submit = async (event: Event) => {
    event.preventDefault();
    try {
      await post("/v1/login", { token: token.trim() });
      session_ended.value = false;
      signed_in.value = true;
    } catch (problem) {
      set_error(problem);
    }
  };
  return html`<main class="narrow">
    <p class="brand">Slipway</p>
    <h1>Sign in</h1>
    ${session_ended.value && html`<p role="status">Your session has ended: it expired, or its token was revoked. The page is still where you were.</p>`}
    <p>Open a new one-time link (<code>slipwayd login-link</code> prints one), or paste a token.</p>
    <form onSubmit=${submit}>
      <label for="token">Token</label>
      <input id="token" type="password" autocomplete="off" spellcheck="false" placeholder="slp_…" value=${token}
        onInput=${(event: InputEvent) => set_token((event.target as HTMLInputElement).value)} />
      <button type="submit" disabled=${!token.trim()}>Sign in</button>
    </form>
    <${ErrorNote} error=${error} />
  </main>`;
}
