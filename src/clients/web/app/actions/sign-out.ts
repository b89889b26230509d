import { act } from '../state/act.ts'
import { request } from '../state/api.ts'

/** Ends the person's session and opens the sign-in page. */
export async function signOut(): Promise<void> {
  if (await act(() => request('POST /api/auth/sign-out'))) location.assign('/login')
}
