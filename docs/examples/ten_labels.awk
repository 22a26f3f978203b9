# Adds ten columns of 0 and 1 to the labels.csv of a glyph dataset: what one can see of each character.
# usage: awk -f ten_labels.awk labels.csv > ten_labels.csv
BEGIN {
    FS = ","
    count = split("digit loop two_loops curve upright level slanted mirrored_x mirrored_y half_turn", names, " ")
    shown["digit"] = "0123456789"
    shown["loop"] = "04689ABDOPQR"
    shown["two_loops"] = "8B"
    shown["curve"] = "0235689BCDGJOPQRSU"
    shown["upright"] = "14BDEFHIKLMNPRTU"
    shown["level"] = "2457AEFGHLTZ"
    shown["slanted"] = "247AKMNQRVWXYZ"
    shown["mirrored_x"] = "08AHIMOTUVWXY"
    shown["mirrored_y"] = "038BCDEHIKOX"
    shown["half_turn"] = "08HINOSXZ"
}
{
    line = $0
    for (i = 1; i <= count; ++i) line = line "," (NR == 1 ? names[i] : (index(shown[names[i]], $2) > 0))
    print line
}
