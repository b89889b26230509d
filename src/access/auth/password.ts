import * as v from 'valibot'

/** A shorter password can be guessed, and bcrypt truncates a longer one. */
export const PASSWORD_BYTES = { least: 10, most: 72 }

/** A new password. */
export const NewPassword = v.pipe(
  v.string(),
  v.minLength(PASSWORD_BYTES.least, `must be at least ${PASSWORD_BYTES.least} characters`),
  v.check((text) => Buffer.byteLength(text) <= PASSWORD_BYTES.most, `must be at most ${PASSWORD_BYTES.most} bytes`),
)
