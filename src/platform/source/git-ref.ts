/**
 * Returns whether a text may be used as a branch, tag or commit. The rules are
 * stricter than those of git. They reject every text that git could parse as an
 * option.
 */
export const isGitRef = (ref: string): boolean =>
  /^\w[\w./+@-]{0,199}$/.test(ref) && !/\.\.|\/\/|@\{|\/$|\.$|\/\./.test(ref)

/** Returns whether a ref is a full commit id, which never changes its content. */
export const isCommit = (ref: string): boolean => /^[0-9a-f]{40}$/.test(ref)
