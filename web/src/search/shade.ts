// The colour of a place between 0 and 1: from blue to orange, told apart also by those who do not see red and green.
const ends = { light: [[36, 89, 184], [194, 90, 12]], dark: [[127, 176, 255], [255, 154, 92]] };

export function shade(place: number | undefined, dark: boolean): string {
  if (place === undefined) return "#8a8f98";
  const [from, to] = dark ? ends.dark : ends.light;
  return `rgb(${from.map((part, i) => Math.round(part + place * (to[i] - part))).join(",")})`;
}
