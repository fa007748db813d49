/** Environment variables by name. */

/** An undefined value means that the variable is not set. */
export type EnvironmentVariables = Readonly<Record<string, string | undefined>>;
