// What a job has said, a line each with its time. Follows the end as long as one has not scrolled up.
import { useEffect, useRef } from "preact/hooks";
import { useSignal } from "@preact/signals";
import { clock, time } from "../format";
import { html } from "../html";
import type { LogLine } from "../pages/job_log";

const near_end_px = 40;

export function Log({ lines, ended }: { lines: LogLine[]; ended: boolean }) {
  const wanted = useSignal("");
  const box = useRef<HTMLDivElement>(null);
  const at_end = useRef(true);
  const top = useRef(0);
  useEffect(() => {
    if (at_end.current && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [lines]);
  // Lines may have come between a scroll and its event: only up is away from the end.
  const look = () => {
    if (!box.current) return; // the page has been left since
    const { scrollTop, scrollHeight, clientHeight } = box.current;
    if (scrollTop < top.current) at_end.current = false;
    if (scrollTop + clientHeight > scrollHeight - near_end_px) at_end.current = true;
    top.current = scrollTop;
  };
  const text = wanted.value.toLowerCase();
  const shown = text ? lines.filter(({ message, level }) => `${level} ${message}`.toLowerCase().includes(text)) : lines;
  const nothing = lines.length > 0 ? `No line has "${wanted.value}".` : ended ? "It said nothing." : "Nothing said yet.";
  return html`<section>
    <div class="title"><h2>Log</h2><input type="search" class="inline" aria-label="Search the log" placeholder="Search the log" value=${wanted.value}
      onInput=${(event: InputEvent) => (wanted.value = (event.target as HTMLInputElement).value)} /></div>
    <div ref=${box} class="log" tabindex="0" role="log" aria-label="log" onScroll=${look}>
      ${shown.length === 0 ? html`<p class="hint">${nothing}</p>` : shown.map((line) =>
        html`<p key=${line.sequence} class=${`log-${line.level}`}><time datetime=${line.time} title=${time(line.time)}>${clock(line.time)}</time> ${line.message}</p>`)}
    </div>
  </section>`;
}
