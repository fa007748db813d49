/** A word that `rookery complete` offers. */
export interface CompletionCandidate {
  readonly word: string;
  readonly summary?: string | undefined;
}

/** More would not fit on a screen. */
export const MAX_CANDIDATES = 100;
