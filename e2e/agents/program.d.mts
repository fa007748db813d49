/** Returns the path of a file in an installed package. Throws if it is not installed. */
export function program(path: string): string;
