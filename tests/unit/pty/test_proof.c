#include "pty/proof.h"

#include <criterion/criterion.h>
#include <string.h>

static const struct proof_key secret = {{1, 2, 3}};
static const struct proof_exchange exchange = {
	.server = {4, 5}, .holder = {6, 7}, .holder_pid = 4711};

static struct proof_key key_of(const char *place)
{
	struct proof_key key;
	proof_derive(&secret, place, &key);
	return key;
}

Test(proof, who_knows_the_key_is_believed)
{
	uint8_t code[WIRE_CODE_SIZE];
	struct proof_key key = key_of("sessions/a+1");
	proof_make(&key, PROOF_OF_HOLDER, &exchange, code);
	cr_expect(proof_holds(&key, PROOF_OF_HOLDER, &exchange, code));
}

Test(proof, the_key_of_another_session_is_none)
{
	uint8_t code[WIRE_CODE_SIZE];
	struct proof_key key = key_of("sessions/a+1"), others = key_of("sessions/a+2");
	proof_make(&others, PROOF_OF_HOLDER, &exchange, code);
	cr_expect_not(proof_holds(&key, PROOF_OF_HOLDER, &exchange, code));
	others = key_of("processes/a+1");
	proof_make(&others, PROOF_OF_HOLDER, &exchange, code);
	cr_expect_not(proof_holds(&key, PROOF_OF_HOLDER, &exchange, code));
}

Test(proof, what_one_side_shows_is_nothing_for_the_other)
{
	uint8_t code[WIRE_CODE_SIZE];
	struct proof_key key = key_of("sessions/a+1");
	proof_make(&key, PROOF_OF_HOLDER, &exchange, code);
	cr_expect_not(proof_holds(&key, PROOF_OF_SERVER, &exchange, code));
}

Test(proof, nor_in_another_exchange)
{
	uint8_t code[WIRE_CODE_SIZE];
	struct proof_key key = key_of("sessions/a+1");
	proof_make(&key, PROOF_OF_SERVER, &exchange, code);
	struct proof_exchange other = exchange;
	other.server[15] ^= 1;
	cr_expect_not(proof_holds(&key, PROOF_OF_SERVER, &other, code));
	other = exchange;
	other.holder[15] ^= 1;
	cr_expect_not(proof_holds(&key, PROOF_OF_SERVER, &other, code));
	other = exchange;
	other.holder_pid++;
	cr_expect_not(proof_holds(&key, PROOF_OF_SERVER, &other, code));
	code[WIRE_CODE_SIZE - 1] ^= 1;
	cr_expect_not(proof_holds(&key, PROOF_OF_SERVER, &exchange, code));
}
