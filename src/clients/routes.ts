import { ENDPOINTS } from '../api.ts'
import type { Endpoint } from '../http/route.ts'
import { checkRoutes } from './database-check/routes.ts'
import { openapiRoutes } from './docs/openapi-routes.ts'
import { docsRoutes } from './docs/routes.ts'
import { guideRoutes } from './guide/routes.ts'
import { accountRoutes } from './pages/account-routes.ts'
import { homeRoutes } from './pages/home-routes.ts'
import { pageRoutes } from './pages/page-routes.ts'

/** All endpoints of the server: those of the API, and those of documentation, guides and pages. */
export const ALL_ENDPOINTS: readonly Endpoint[] = [
  ...ENDPOINTS,
  ...accountRoutes,
  ...checkRoutes,
  ...homeRoutes,
  ...pageRoutes,
  ...docsRoutes(() => DOCUMENTED_ENDPOINTS),
  ...guideRoutes(() => DOCUMENTED_ENDPOINTS),
  ...openapiRoutes(() => DOCUMENTED_ENDPOINTS),
]

/** The endpoints that the documentation describes: those below /api and /llms. */
export const DOCUMENTED_ENDPOINTS = ALL_ENDPOINTS.filter(({ path }) => /^\/(api|llms)\//.test(path))
