/** Where a file of an installed package is. */
export function program(path: string): string;
