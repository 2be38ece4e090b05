/* What a session is at. */
#include "ws/api.h"
#include "ws/state_json.h"

void api_session_state(struct api *a, struct request *r, struct session *s)
{
	struct session_state state;
	(void)a;
	session_state(s, &state);
	reply_success(r, json_pack("{s:o}", "state", state_json(&state)));
}
