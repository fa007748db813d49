/** Where whoever reads configuration looks for guesses. */
export { didYouMean, nearest } from "../stdx/nearest.ts";
