/**
 * Characters that control a terminal or disguise text: DEL, C1 control
 * characters, line separators, and characters that change the text direction.
 * JSON.stringify escapes only the C0 control characters.
 */
const CONTROL_CHARACTERS = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

/** Escapes control characters in JSON as \\uXXXX, which a terminal displays literally. */
export const escapeInJson = (json: string): string =>
  json.replaceAll(CONTROL_CHARACTERS, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** Removes control characters from a text. */
export const withoutControlCharacters = (text: string): string => text.replaceAll(CONTROL_CHARACTERS, '')
