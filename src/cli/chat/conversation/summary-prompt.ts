/** What `/compact` asks the agent for. The chat does not show it, because the person did not write it. */
export const SUMMARY_PROMPT =
  "Summarize our conversation for yourself, so that you can continue without it: the goal, decisions and their reasons, " +
  "what was done with file names, what is left, and what I asked you to keep in mind. Use no tools.";
