// Links of a picture as one stop of Tab: arrows go on from the link that has the focus. A picture may have thousands, and Tab should lead past it.

type Place = { link: SVGAElement; x: number; y: number };
type Move = (from: Place, places: Place[]) => Place | undefined;

const same_px = 0.5;

function places_of(picture: Element): Place[] {
  return [...picture.querySelectorAll<SVGAElement>("a")].map((link) => {
    const { left, top, height } = link.getBoundingClientRect();
    return { link, x: left, y: top + height / 2 };
  });
}

/** The next one of `places` in the order of `first`, where two are equal of `second`; `step` -1: the one before. */
const next_by = (first: "x" | "y", second: "x" | "y", step: 1 | -1): Move => (from, places) => {
  const sorted = [...places].sort((a, b) => (Math.abs(a[first] - b[first]) > same_px ? a[first] - b[first] : a[second] - b[second]));
  return sorted[sorted.indexOf(from) + step];
};

/** The nearest one in the next row down (or up) that has any. */
const in_row = (step: 1 | -1): Move => (from, places) => {
  const there = places.filter(({ y }) => step * (y - from.y) > same_px);
  const row = Math.min(...there.map(({ y }) => Math.abs(y - from.y)));
  return there.filter(({ y }) => Math.abs(y - from.y) < row + same_px).sort((a, b) => Math.abs(a.x - from.x) - Math.abs(b.x - from.x))[0];
};

/** Of bars in rows: along a row and on to the next one, or to another row. */
export const along_rows: Record<string, Move> = { ArrowLeft: next_by("y", "x", -1), ArrowRight: next_by("y", "x", 1), ArrowUp: in_row(-1), ArrowDown: in_row(1) };

/** Of dots: in their order across, or upwards. */
export const across: Record<string, Move> = { ArrowLeft: next_by("x", "y", -1), ArrowRight: next_by("x", "y", 1), ArrowUp: next_by("y", "x", -1), ArrowDown: next_by("y", "x", 1) };

/** For each link of a picture: Tab comes to the first one only, or to the one that arrows went to last. */
export const stop_of = (index: number) => (index === 0 ? 0 : -1);

/** `onKeyDown` of the picture. */
export const go_by_arrows = (moves: Record<string, Move>) => (event: KeyboardEvent) => {
  if (!moves[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
  const places = places_of(event.currentTarget as Element);
  const from = places.find(({ link }) => link === document.activeElement);
  if (!from) return;
  event.preventDefault(); // the page would scroll
  const next = moves[event.key](from, places);
  if (!next) return;
  from.link.setAttribute("tabindex", "-1");
  next.link.setAttribute("tabindex", "0");
  next.link.focus();
};
