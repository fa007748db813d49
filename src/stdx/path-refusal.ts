/** The error for a path that must not be used. The message says why. */
export class PathRefusal extends Error {}
