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
      'This cannot be undone. To keep the history, cancel the issue instead. An issue with sub-issues is a 409. The server stops live runs on it. The activity and the costs remain.',
    who: [board],
    responses: { 200: Issue },
    run: (ctx, { caller, params }) => deleteIssue(ctx, caller, params.issueId),
  }),
]
