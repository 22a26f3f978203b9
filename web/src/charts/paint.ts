// Paints shapes on a canvas.
import type { Shape } from "./shapes";

const dot_radius = 1.4; // widths of the line

function trace(canvas: CanvasRenderingContext2D, points: number[]) {
  canvas.beginPath();
  canvas.moveTo(points[0], points[1]);
  for (let at = 2; at < points.length; at += 2) canvas.lineTo(points[at], points[at + 1]);
}

const painters: Record<Shape["kind"], (canvas: CanvasRenderingContext2D, shape: Shape) => void> = {
  line: (canvas, { points }) => {
    trace(canvas, points);
    canvas.stroke();
  },
  area: (canvas, { points }) => {
    trace(canvas, points);
    canvas.fill();
  },
  dots: (canvas, { points, width }) => {
    canvas.beginPath();
    for (let at = 0; at < points.length; at += 2) {
      canvas.moveTo(points[at] + dot_radius * width, points[at + 1]);
      canvas.arc(points[at], points[at + 1], dot_radius * width, 0, 2 * Math.PI);
    }
    canvas.fill();
  },
  word: (canvas, { points, word, width }) => {
    canvas.font = `bold ${Math.round(6.3 * width)}px system-ui, sans-serif`;
    canvas.textAlign = "center";
    canvas.fillText(word!, points[0], points[1]);
  },
};

export function paint(canvas: CanvasRenderingContext2D, shapes: Shape[]) {
  for (const shape of shapes) {
    canvas.globalAlpha = shape.opacity;
    canvas.strokeStyle = canvas.fillStyle = shape.colour;
    canvas.lineWidth = shape.width;
    canvas.lineJoin = "round";
    canvas.setLineDash(shape.dash);
    painters[shape.kind](canvas, shape);
  }
  canvas.globalAlpha = 1;
  canvas.setLineDash([]);
}
