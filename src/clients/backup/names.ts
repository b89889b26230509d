/** The folders of a data directory that a backup contains, besides `service.db` and `config.json`. */
export const FOLDERS = ['assets', 'agents', 'skills'] as const

/** The folder of the keys, which a backup contains only on request: with them, a stolen archive exposes all secrets. */
export const KEYS_FOLDER = 'keys'
