/** Colors for terminals. */

export type Color = "dim" | "bold" | "red" | "green" | "yellow";
export type Paint = (colour: Color, text: string) => string;

const CODES: Record<Color, readonly [number, number]> = {
  dim: [2, 22],
  bold: [1, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
};

export const plainPaint: Paint = (_, text) => text;

export const ansiPaint: Paint = (colour, text) => {
  const [on, off] = CODES[colour];
  return `\u001b[${on}m${text}\u001b[${off}m`;
};
