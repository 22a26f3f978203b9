// 64 curves that can be told apart: 16 colours, each with four kinds of line. The colours have a contrast of three to one to the card they are
// drawn on, which is why there is a list for each scheme.
const light = [
  "#2459b8", "#c2410c", "#2b7a3d", "#8b35a8", "#b3261e", "#0e7490", "#8a5300", "#4f46c8",
  "#a8326b", "#4d7c0f", "#0f766e", "#7a4a2b", "#5b6472", "#6d28d9", "#9f1239", "#1e5f8a",
];
const dark = [
  "#7fb0ff", "#ff9a5c", "#7fd494", "#d896f0", "#ff8a80", "#5fd0e6", "#f0b45e", "#a9a4ff",
  "#ff8fc0", "#b5d95f", "#5ed6c4", "#d9a684", "#b8bfca", "#c4a1ff", "#ff9db0", "#8cc7f0",
];
const dashes = [[], [8, 4], [2, 3], [10, 3, 2, 3]];

export const scheme = matchMedia("(prefers-color-scheme: dark)");

export const colour_of = (index: number): string => (scheme.matches ? dark : light)[index % light.length];
export const dash_of = (index: number): number[] => dashes[Math.floor(index / light.length) % dashes.length];
export const ink = () => (scheme.matches ? { text: "#b8bfca", grid: "#31363f", card: "#1c2027" } : { text: "#4a5260", grid: "#e4e7ec", card: "#ffffff" });
