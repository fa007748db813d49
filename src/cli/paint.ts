/** Colors for terminals. */

export type Color =
  | "dim"
  | "bold"
  | "italic"
  | "underline"
  | "strike"
  | "inverse"
  | "red"
  | "green"
  | "yellow"
  | "blue"
  | "magenta"
  | "cyan";
export type Paint = (colour: Color, text: string) => string;

const CODES: Record<Color, readonly [number, number]> = {
  dim: [2, 22],
  bold: [1, 22],
  italic: [3, 23],
  underline: [4, 24],
  strike: [9, 29],
  inverse: [7, 27],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  blue: [34, 39],
  magenta: [35, 39],
  cyan: [36, 39],
};

export const plainPaint: Paint = (_, text) => text;

export const ansiPaint: Paint = (colour, text) => {
  const [on, off] = CODES[colour];
  return `\u001b[${on}m${text}\u001b[${off}m`;
};
