/** Names of backends: built-in ones, and those that a program registers. */
import { didYouMean } from "../stdx/nearest.ts";
import { BACKEND_KINDS, isBackendKind } from "./enums.ts";

/** At most 50 characters, so that a label of a task can contain the name. */
const BACKEND_NAME = /^[A-Za-z][\w.-]{0,49}$/;

/**
 * Returns why no backend can have this name, or undefined. A name that is close to a built-in one is refused, so that a
 * misspelled built-in name is noticed where it is written.
 */
export function findBackendNameProblem(name: string): string | undefined {
  if (isBackendKind(name)) return undefined;
  const guess = didYouMean(name, BACKEND_KINDS, (known) => `"${known}"`);
  if (guess !== "") return `expected one of ${BACKEND_KINDS.join(", ")}, or the name of a registered backend${guess}`;
  if (BACKEND_NAME.test(name)) return undefined;
  return 'a name of a backend may contain only letters, digits, "-", "_" and ".", starts with a letter, and has at most 50 characters';
}

/** The label that a task of an agent with a registered backend requires, and that processes with this backend have. */
export function backendLabel(backend: string): string {
  return `backend.${backend}`;
}

/** What a person can do about a backend that this process lacks. */
export function missingBackendAdvice(backend: string): string {
  return `the backend "${backend}" is neither built in nor registered in this process: a program registers it with Rookery.open({ backends: […] })`;
}
