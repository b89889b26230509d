import * as v from 'valibot'
import { agent, board } from '../../access/caller/who.ts'
import { route } from '../../access/route.ts'
import { decodeCursor, LIST_QUERY, Page } from '../../http/list.ts'
import { alias, reply } from '../../http/route.ts'
import { findCompany } from '../../organization/company/queries.ts'
import {
  CostEvent,
  CostOfAgent,
  CostOfDay,
  CostOfIssue,
  CostOfModel,
  CostOfProject,
  CostOfProvider,
  CostSummary,
  NewCostEvent,
} from '../../organization/cost/cost.ts'
import { toCents } from '../../organization/cost/money.ts'
import { daysOf, listDays, sumOfCompany, toFigures } from '../../organization/cost/totals.ts'
import { getIssue } from '../issue/get.ts'
import { bookCostEvent, toCostEvent } from './book.ts'
import { costEventsAsCsv } from './csv.ts'
import { costGroupsJob, type GroupKind } from './groups.ts'
import { CostOfOneIssue, costsOfIssue } from './issue-costs.ts'
import { COST_EVENT_FILTERS, COST_EVENT_QUERY, pageOfCostEvents } from './list.ts'

const DAYS = v.object({
  from: v.optional(
    v.pipe(v.string(), v.description('The first UTC day, like 2026-11-01. Default: the first of this month.')),
  ),
  to: v.optional(v.pipe(v.string(), v.description('The last UTC day. Default: today.'))),
})

/** Creates the route of a grouping of costs, the most expensive group first. */
const grouping = <const Id extends string, const By extends string, const Shape extends v.GenericSchema>(what: {
  id: Id
  by: By
  kind: GroupKind
  summary: string
  shape: Shape
}) =>
  route({
    id: what.id,
    method: 'GET',
    path: `/api/companies/:companyId/costs/${what.by}` as const,
    summary: what.summary,
    who: [board, agent],
    query: v.object({ ...DAYS.entries, ...LIST_QUERY }),
    responses: { 200: v.array(what.shape) },
    run: async (ctx, { params, query }) => {
      const { companyId } = params as { companyId: string }
      const { groups, total } = await ctx.reader.run(costGroupsJob, {
        of: { companyId, kind: what.kind, ...daysOf(query, ctx.now) },
        page: { after: decodeCursor(query.after, ['number', 'string']), limit: query.limit },
        isCounted: query.count === 'true',
      })
      return Page.of(groups, {
        limit: query.limit,
        cursorOf: ({ total }) => [total.cost_micros, total.key],
        show: ({ name, total }) => ({ ...name, ...toFigures(total) }),
        total,
      })
    },
  })

const costsOfOneIssue = route({
  id: 'issues.costs',
  method: 'GET',
  path: '/api/issues/:issueId/costs',
  summary: 'Get the cost of an issue, alone and with its sub-issues',
  who: [board, agent],
  responses: { 200: CostOfOneIssue },
  run: (ctx, { caller, params }) => costsOfIssue(ctx, getIssue(ctx, caller, params.issueId)),
})

export const costRoutes = [
  costsOfOneIssue,
  alias(costsOfOneIssue, { id: 'issues.costSummary', path: '/api/issues/:issueId/cost-summary' }),
  route({
    id: 'costs.report',
    method: 'POST',
    path: '/api/companies/:companyId/cost-events',
    summary: 'Report a cost',
    who: [board, agent],
    body: NewCostEvent,
    responses: { 201: CostEvent },
    run: (ctx, { caller, params, body }) =>
      ctx.write(() => toCostEvent(bookCostEvent(ctx, caller, params.companyId, body))),
  }),
  route({
    id: 'costs.events',
    method: 'GET',
    path: '/api/companies/:companyId/cost-events',
    summary: 'List the cost events of a company, newest first',
    who: [board, agent],
    query: COST_EVENT_QUERY,
    responses: { 200: v.array(CostEvent) },
    run: (ctx, { params, query }) => pageOfCostEvents(ctx, params.companyId, query),
  }),
  route({
    id: 'costs.eventsCsv',
    method: 'GET',
    path: '/api/companies/:companyId/cost-events.csv',
    summary: 'Export the cost events of a company as CSV, newest first',
    description:
      'All events that the filters select, without a limit. A cell that a spreadsheet would interpret as a formula begins with an apostrophe.',
    who: [board, agent],
    query: v.object(COST_EVENT_FILTERS),
    responses: { 200: 'text/csv' },
    run: (ctx, { params, query }) =>
      reply(200, costEventsAsCsv(ctx, params.companyId, query), {
        'content-type': 'text/csv; charset=utf-8',
        'content-disposition': 'attachment; filename="cost-events.csv"',
      }),
  }),
  route({
    id: 'costs.summary',
    method: 'GET',
    path: '/api/companies/:companyId/costs/summary',
    summary: 'Get the total cost of a company',
    who: [board, agent],
    query: DAYS,
    responses: { 200: CostSummary },
    run: (ctx, { params, query }) => {
      const days = daysOf(query, ctx.now)
      const { companyId } = params
      const figures = toFigures(sumOfCompany(ctx.db, { companyId, ...days }))
      const budgetCents = toCents(findCompany(ctx.db, { id: params.companyId })!.budget_micros)
      const utilizationPercent = budgetCents === 0 ? 0 : Math.round((figures.costCents / budgetCents) * 10_000) / 100
      return {
        companyId: params.companyId,
        ...days,
        spendCents: figures.costCents,
        budgetCents,
        utilizationPercent,
        ...figures,
      }
    },
  }),
  grouping({
    id: 'costs.byAgent',
    by: 'by-agent',
    kind: 'agent',
    summary: 'List the costs by agent, the highest first',
    shape: CostOfAgent,
  }),
  grouping({
    id: 'costs.byProject',
    by: 'by-project',
    kind: 'project',
    summary: 'List the costs by project, the highest first',
    shape: CostOfProject,
  }),
  grouping({
    id: 'costs.byIssue',
    by: 'by-issue',
    kind: 'issue',
    summary: 'List the costs by issue, the highest first',
    shape: CostOfIssue,
  }),
  grouping({
    id: 'costs.byModel',
    by: 'by-model',
    kind: 'model',
    summary: 'List the costs by model, the highest first',
    shape: CostOfModel,
  }),
  grouping({
    id: 'costs.byProvider',
    by: 'by-provider',
    kind: 'provider',
    summary: 'List the costs by provider, the highest first',
    shape: CostOfProvider,
  }),
  route({
    id: 'costs.byDay',
    method: 'GET',
    path: '/api/companies/:companyId/costs/by-day',
    summary: 'List the costs by UTC day, the earliest first',
    who: [board, agent],
    query: DAYS,
    responses: { 200: v.array(CostOfDay) },
    run: (ctx, { params, query }) => {
      const days = daysOf(query, ctx.now)
      const totals = listDays(ctx.db, { companyId: params.companyId, kind: 'company', ...days })
      return totals.map((total) => ({ date: total.key, ...toFigures(total) }))
    },
  }),
]
