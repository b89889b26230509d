/**
 * Characters that steer a terminal or hide what a line says: DEL, C1 control
 * characters, line separators, and those that change the direction of text.
 * JSON.stringify escapes the C0 control characters only.
 */
const STEERING = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

/** Escapes them as \\uXXXX: valid JSON that a terminal shows as it is. */
export const escapeInJson = (json: string): string =>
  json.replaceAll(STEERING, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** Removes them. */
export const withoutSteering = (text: string): string => text.replaceAll(STEERING, '')
