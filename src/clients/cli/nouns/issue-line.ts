import type { ResponseOf } from '../../client/types.ts'
import { plain, words } from '../command/output.ts'

type Issue = ResponseOf<'GET /api/issues/:issueId'>

/** Formats an issue as one line. */
export const lineOf = ({ identifier, status, title }: Pick<Issue, 'identifier' | 'status' | 'title'>) =>
  `${identifier} is ${words(status)}: ${plain(title)}`
