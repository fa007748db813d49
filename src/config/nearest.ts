/** Suggests the closest known key for a misspelled one. */
export { didYouMean, nearest } from "../stdx/nearest.ts";
