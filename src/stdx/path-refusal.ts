/** What is said of a path that must not be used. */

/** The path must not be used; says why. */
export class PathRefusal extends Error {}
