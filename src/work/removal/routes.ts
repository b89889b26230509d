import { board } from '../../access/caller/who.ts'
import { route } from '../../access/route.ts'
import { Issue } from '../issue/issue.ts'
import { deleteIssue } from './remove-issue.ts'

export const removalRoutes = [
  route({
    id: 'issues.delete',
    method: 'DELETE',
    path: '/api/issues/:issueId',
    summary: 'Delete an issue with its comments, documents and files',
    description:
      'There is no way back; to keep the history, cancel it. An issue with sub-issues is a 409. Live runs on it stop. Its activity and its costs stay.',
    who: [board],
    responses: { 200: Issue },
    run: (ctx, { caller, params }) => deleteIssue(ctx, caller, params.issueId),
  }),
]
