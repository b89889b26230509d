import * as v from 'valibot'
import { agent, board, ceo } from '../../access/caller/who.ts'
import { route } from '../../access/route.ts'
import { LIST_QUERY, readPage } from '../../http/list.ts'
import { manager } from '../../organization/agent/who.ts'
import { createLabel, deleteLabel, updateLabel } from './change.ts'
import { Label, LabelChange, NewLabel, toLabel } from './label.ts'
import { selectLabels } from './queries.ts'

export const labelRoutes = [
  route({
    id: 'labels.list',
    method: 'GET',
    path: '/api/companies/:companyId/labels',
    summary: "List a company's labels by name",
    who: [board, agent],
    query: v.object(LIST_QUERY),
    responses: { 200: v.array(Label) },
    run: (ctx, { params: { companyId }, query }) =>
      readPage(ctx.db, selectLabels({ companyId }), query, { by: 'name' }).map(toLabel),
  }),
  route({
    id: 'labels.create',
    method: 'POST',
    path: '/api/companies/:companyId/labels',
    summary: 'Create a label',
    who: [board, agent],
    role: 'member',
    body: NewLabel,
    responses: { 201: Label },
    run: (ctx, { caller, params, body }) => ctx.write(() => toLabel(createLabel(ctx, caller, params.companyId, body))),
  }),
  route({
    id: 'labels.update',
    method: 'PATCH',
    path: '/api/labels/:labelId',
    summary: "Change a label's name or colour",
    who: [board, ceo, manager],
    role: 'member',
    body: LabelChange,
    responses: { 200: Label },
    run: (ctx, { caller, params, body }) => ctx.write(() => toLabel(updateLabel(ctx, caller, params.labelId, body))),
  }),
  route({
    id: 'labels.delete',
    method: 'DELETE',
    path: '/api/labels/:labelId',
    summary: 'Delete a label, also from the issues that have it',
    who: [board, ceo, manager],
    role: 'member',
    responses: { 200: Label },
    run: (ctx, { caller, params }) => ctx.write(() => toLabel(deleteLabel(ctx, caller, params.labelId))),
  }),
]
