// Where axes and values lie in parallel coordinates, in pixels of the page.
export const height_px = 280;
export const margin = { left: 50, right: 50, top: 34, bottom: 26 };

export type Brush = [number, number]; // of places on an axis, from 0 to 1
export type Brushes = ReadonlyMap<string, Brush>; // by the name of the axis

export const x_of = (index: number, count: number, width: number) => margin.left + (count === 1 ? 0 : (index * (width - margin.left - margin.right)) / (count - 1));
export const y_of = (place: number) => height_px - margin.bottom - place * (height_px - margin.top - margin.bottom);
export const place_at = (y: number) => Math.min(1, Math.max(0, (height_px - margin.bottom - y) / (height_px - margin.top - margin.bottom)));
