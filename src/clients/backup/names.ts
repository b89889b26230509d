/** The folders of a data directory that a backup contains, besides `service.db` and `config.json`. */
export const FOLDERS = ['assets', 'agents', 'skills'] as const

/** Contained only when the keys are asked for: with them, a stolen archive opens every secret. */
export const KEYS_FOLDER = 'keys'
