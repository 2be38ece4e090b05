#include "ws/client/connect/local_time.h"

#include <stdio.h>
#include <time.h>

const char *local_time(const char *iso, char text[LOCAL_TIME_SIZE])
{
	struct tm utc = {0}, local;
	const char *end = strptime(iso, "%Y-%m-%dT%H:%M:%S", &utc);
	time_t at = end ? timegm(&utc) : 0;
	if (!end || !localtime_r(&at, &local) ||
		strftime(text, LOCAL_TIME_SIZE, "%Y-%m-%d %H:%M", &local) == 0)
		snprintf(text, LOCAL_TIME_SIZE, "%s", iso);
	return text;
}
