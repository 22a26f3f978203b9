// Back returns to where one was. The browser would try too early: the rows are not there yet when it does. Each entry of the history has a
// key, under which the place is kept for the life of the tab; after Back the page is scrolled as soon as it is long enough.
import { unique_id } from "./unique_id";

const patience_ms = 3000;
const kept = "slipway scroll ";

const key = (): string => {
  if (!history.state?.key) history.replaceState({ ...history.state, key: unique_id() }, "");
  return kept + history.state.key;
};

function restore(top: number) {
  const end = performance.now() + patience_ms;
  let wanted = true;
  const give_up = () => (wanted = false);
  for (const event of ["wheel", "touchstart", "keydown"]) addEventListener(event, give_up, { once: true });
  const attempt = () => {
    if (!wanted) return;
    const room = document.documentElement.scrollHeight - innerHeight;
    if (room >= top || performance.now() > end) scrollTo(0, top);
    else requestAnimationFrame(attempt);
  };
  requestAnimationFrame(attempt);
}

export function keep_scroll() {
  history.scrollRestoration = "manual";
  let entry = key();
  addEventListener("scroll", () => sessionStorage.setItem(entry, String(Math.round(scrollY))), { passive: true });
  addEventListener("hashchange", () => {
    const is_new = !history.state?.key;
    entry = key();
    if (is_new) scrollTo(0, 0);
    else restore(Number(sessionStorage.getItem(entry) ?? 0));
  });
  // After the first view: the first look into the storage waits for the browser.
  requestAnimationFrame(() => setTimeout(() => {
    const top = Number(sessionStorage.getItem(entry) ?? 0);
    if (top > 0) restore(top);
  }));
}
