/* Generalized randomized response over a pipe: client <k> <epsilon> [seed]. With a seed, every run is the same. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    int k = atoi(argv[1]);
    double e = exp(atof(argv[2]));
    unsigned int seed = 0;
    if (argc > 3) {
        seed = (unsigned int)atoi(argv[3]);
    } else {
        FILE *source = fopen("/dev/urandom", "rb");
        if (!source || fread(&seed, sizeof seed, 1, source) != 1) return 3;
        fclose(source);
    }
    srandom(seed);
    int value;
    while (scanf("%d", &value) == 1) {
        if (random() / 2147483648.0 < e / (e + k - 1)) {
            printf("%d\n", value);
        } else {
            int other = (int)(random() % (k - 1));
            printf("%d\n", other < value ? other : other + 1);
        }
    }
    return 0;
}
