/* Standard descriptors, for whoever is started without. */
#pragma once

/* Open what is not, so that no file of ours becomes standard output. Without /dev/null the program ends. */
void standard_open(void);
