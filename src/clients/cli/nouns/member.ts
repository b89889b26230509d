import { choice, LIMIT, required, text } from '../command/flag.ts'
import { ago, localTime, paint, shortId } from '../command/output.ts'
import type { Scope } from '../command/scope.ts'
import { create, edit, list, noun, remove } from '../command/verb.ts'

const ROLES = ['viewer', 'member', 'admin', 'owner'] as const

const theMember = async (scope: Scope, ref: string) => ({
  ...(await scope.inCompany()),
  userId: await scope.find('member', ref),
})

export const memberCommand = () =>
  noun('member', 'Members: the people of a company and their roles (authenticated mode).', [
    list({
      summary: 'List the members.',
      flags: LIMIT,
      examples: ['member list'],
      empty: 'The company has no members. In local trusted mode everyone on this machine is the board.',
      page: 'members',
      load: async (scope, query) =>
        scope.client.page('GET /api/companies/:companyId/members', { params: await scope.inCompany(), query }),
      columns: {
        Name: ({ name }) => name,
        Email: ({ email }) => email,
        Role: ({ role }) => role,
        Since: ({ createdAt }) => ago(createdAt),
      },
    }),
    edit({
      summary: 'Give a member another role.',
      args: ['<member>'],
      flags: { role: required(choice('--role <role>', ROLES)) },
      examples: ['member edit bo@example.com --role admin'],
      send: async (scope, [ref], body) =>
        scope.client.request('PATCH /api/companies/:companyId/members/:userId', {
          params: await theMember(scope, ref),
          body,
        }),
      text: ({ name, role }) => `${name} is now ${/^[ao]/.test(role) ? 'an' : 'a'} ${role}.`,
    }),
    remove({
      summary: 'Remove a member from the company.',
      args: ['<member>'],
      examples: ['member delete bo@example.com --yes'],
      ask: ([ref]) => `Remove ${ref} from the company?`,
      send: async (scope, [ref]) =>
        scope.client.request('DELETE /api/companies/:companyId/members/:userId', {
          params: await theMember(scope, ref),
        }),
      text: ({ name }) => `${name} is no longer a member.`,
    }),
  ])

export const inviteCommand = () =>
  noun('invite', 'Invites: links by which a person joins a company (authenticated mode).', [
    list({
      summary: 'List the invites.',
      flags: LIMIT,
      examples: ['invite list'],
      empty: 'There are no invites. Create one with `service invite create`.',
      load: async (scope, query) =>
        scope.client.page('GET /api/companies/:companyId/invitations', { params: await scope.inCompany(), query }),
      columns: {
        Id: ({ id }) => shortId(id),
        Role: ({ role }) => role,
        Status: ({ status }) => status,
        Expires: ({ expiresAt }) => localTime(expiresAt),
        Age: ({ createdAt }) => ago(createdAt),
      },
    }),
    create({
      summary: 'Create a link by which one person joins the company.',
      args: [],
      flags: {
        role: choice('--role <role>', ROLES, 'the role of the person (default: member)'),
        expiresInDays: { ...text('--days <count>', 'the days until it expires'), parse: Number },
      },
      examples: ['invite create --role admin'],
      send: async (scope, _, body) =>
        scope.client.request('POST /api/companies/:companyId/invitations', { params: await scope.inCompany(), body }),
      text: ({ url, expiresAt }) => `${paint('strong', url)}\nIt works once, until ${localTime(expiresAt)}.`,
    }),
    remove({
      summary: 'Revoke an invite.',
      args: ['<invite>'],
      examples: ['invite delete latest --yes'],
      ask: ([ref]) => `Revoke the invite ${ref}?`,
      async send(scope, [ref]) {
        const params = await scope.inCompany()
        const all = await scope.client.request('GET /api/companies/:companyId/invitations', { params })
        const found = ref === 'latest' ? all[0] : all.find(({ id }) => id.endsWith(ref))
        return scope.client.request('DELETE /api/companies/:companyId/invitations/:invitationId', {
          params: { ...params, invitationId: found?.id ?? ref },
        })
      },
      text: () => 'The invite is revoked.',
    }),
  ])
